package dev.mcpbridge.bus;

/**
 * Where one kind of news is published.
 *
 * @param <T> the news
 */
public record Topic<T>(String name) {}
