package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * A schema as a provider takes it.
 *
 * @param isStrict whether it keeps the rules of OpenAI's strict mode
 * @param lost what it says no more, each with its place, a JSON Pointer
 */
public record Reduction(ObjectNode schema, boolean isStrict, List<String> lost) {}
