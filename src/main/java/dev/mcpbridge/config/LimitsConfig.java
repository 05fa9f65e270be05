package dev.mcpbridge.config;

/**
 * How much is too much.
 *
 * @param bodyBytes of a request
 * @param messageBytes of one message of an upstream
 * @param heldBytes of all that is large and on its way through, before no call is begun
 * @param depth of nesting, both ways
 */
public record LimitsConfig(int bodyBytes, int messageBytes, long heldBytes, int depth) {}
