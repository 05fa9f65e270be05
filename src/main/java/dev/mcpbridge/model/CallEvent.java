package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * A notification about a running call.
 *
 * @param name {@code progress} or {@code message}
 * @param data params of the notification, as the upstream sent them
 */
public record CallEvent(String name, JsonSlice data) {}
