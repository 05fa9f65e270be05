package dev.mcpbridge.config;

/**
 * Which node of the cluster this one is, where whoever starts it says so; null for what the file
 * says.
 */
public record NodeOptions(String host, Integer port, String node) {}
