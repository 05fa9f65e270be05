package dev.mcpbridge.config;

/**
 * Start options that identify this node in the cluster. A component that is null is taken from the
 * file.
 */
public record NodeOptions(String host, Integer port, String node) {}
