/** Servers of an MCP registry, and the entries of the configuration that run them. */
package dev.mcpbridge.cli.registry;
