package dev.mcpbridge.api;

/**
 * A change at the bridge.
 *
 * @param name such as {@code server}, {@code tools} or {@code confirmation}
 * @param data as JSON text
 */
public record Event(String name, String data) {}
