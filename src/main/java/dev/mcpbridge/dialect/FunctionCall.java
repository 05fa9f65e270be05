package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonSlice;

/**
 * One call that a model asks for.
 *
 * @param id null where its provider gives none
 * @param arguments the JSON text that should be an object, not yet looked at
 */
public record FunctionCall(String id, String name, JsonSlice arguments) {}
