package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * A schema reduced to a provider's dialect.
 *
 * @param isStrict whether the schema satisfies OpenAI's strict mode
 * @param reductions what was removed or relaxed, each prefixed with its location as a JSON Pointer
 */
public record Reduction(ObjectNode schema, boolean isStrict, List<String> reductions) {}
