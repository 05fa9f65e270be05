/** The commands. The only package that prints or exits. */
package dev.mcpbridge.cli;
