package dev.mcpbridge.config;

/**
 * How much is too much.
 *
 * @param bodyBytes of a request
 * @param messageBytes of one message of an upstream
 * @param heldBytes of large answers on their way through, and as much of large bodies
 * @param depth of nesting, both ways
 */
public record LimitsConfig(int bodyBytes, int messageBytes, long heldBytes, int depth) {}
