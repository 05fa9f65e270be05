package dev.mcpbridge.config;

/**
 * How a server is reached: by starting it, on this machine or in a container, where it runs, or by
 * calling something that is no MCP server as if it were one.
 */
public sealed interface Reach permits Launch, Contained, Remote, OpenApiSource, ToolCallSource {}
