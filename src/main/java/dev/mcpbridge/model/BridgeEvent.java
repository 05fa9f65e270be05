package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * An event for clients of {@code /events}.
 *
 * @param audience the caller that may receive it; null for all callers
 * @param server the server that it is about; null if it is for its audience only
 * @param tool the tool of the server that it is about; null for the whole server
 */
public record BridgeEvent(
    String name, JsonSlice data, String audience, ServerId server, String tool) {}
