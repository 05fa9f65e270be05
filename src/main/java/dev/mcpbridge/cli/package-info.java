/** The command line. Only this package prints to stdout and stderr or exits the process. */
package dev.mcpbridge.cli;
