package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A tool as it is offered to a model.
 *
 * @param name at most 64 characters of {@code [A-Za-z0-9_-]}, which every provider accepts
 * @param inputSchema the schema as declared by the server
 */
public record Function(String name, String description, JsonNode inputSchema) {}
