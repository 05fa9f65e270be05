package dev.mcpbridge.config;

/**
 * How much is too much.
 *
 * @param bodyBytes of a request
 * @param messageBytes of one message of an upstream
 * @param depth of nesting, both ways
 */
public record LimitsConfig(int bodyBytes, int messageBytes, int depth) {}
