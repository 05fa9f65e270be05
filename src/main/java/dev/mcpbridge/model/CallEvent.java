package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * What happens while a call runs.
 *
 * @param name {@code progress} or {@code message}
 * @param data the notification's params as the upstream sent them
 */
public record CallEvent(String name, JsonSlice data) {}
