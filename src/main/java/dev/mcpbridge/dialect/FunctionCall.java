package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * A call requested by a model.
 *
 * @param id null if the provider assigns none
 * @param arguments JSON text that should be an object, not yet validated
 */
public record FunctionCall(String id, String name, JsonSlice arguments) {}
