package dev.mcpbridge.config;

/** How a server is reached: by starting it, on this machine or in a container, or where it runs. */
public sealed interface Reach permits Launch, Contained, Remote {}
