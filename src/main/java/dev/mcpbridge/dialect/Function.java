package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A tool as a model gets it.
 *
 * @param name at most 64 of {@code [A-Za-z0-9_-]}, which every provider takes
 * @param inputSchema as its server wrote it
 */
public record Function(String name, String description, JsonNode inputSchema) {}
