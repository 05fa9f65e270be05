package dev.mcpbridge.config;

/** How a server is reached: by starting it, or where it runs. */
public sealed interface Reach permits Launch, Remote {}
