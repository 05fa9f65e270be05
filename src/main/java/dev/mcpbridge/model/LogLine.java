package dev.mcpbridge.model;

/**
 * A line that a server has logged, or the bridge about it.
 *
 * @param number increases with each line of an instance, also over its restarts
 * @param stream {@code stderr} or {@code bridge}
 * @param pid 0 if it is of no process
 */
public record LogLine(long number, long atMillis, String stream, long pid, String text) {}
