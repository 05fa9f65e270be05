package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The JSON Schema dialect that a provider accepts for function parameters. A reduced schema is
 * always valid and accepts all arguments that the tool accepts, except values that the dialect
 * cannot express. Removed constraints are reported, and still checked when the tool is called.
 */
public enum SchemaDialect {
  /** JSON Schema 2020-12; only invalid keywords are removed. */
  JSON_SCHEMA,
  /** JSON Schema without unions at the top level: OpenAI without strict mode. */
  OPENAI,
  /** Like OPENAI, with restricted property names (tool use, input_schema). */
  ANTHROPIC,
  /** OpenAI's Structured Outputs; a schema they cannot express is reduced as for OPENAI. */
  OPENAI_STRICT,
  /** The OpenAPI subset of Gemini's {@code parameters}: no references, one type each. */
  GEMINI;

  private static final Pattern PROPERTY_NAME = Pattern.compile("[a-zA-Z0-9_.-]{1,64}");

  /**
   * @param schema a tool's input schema; anything but an object means no parameters
   */
  public Reduction reduce(JsonNode schema) {
    ReductionReport report = new ReductionReport();
    ObjectNode valid = new SchemaNormalizer(report).normalize(schema);
    ObjectNode flat = this == JSON_SCHEMA ? valid : new TopLevelFlattener(report).flatten(valid);
    Reduction reduction =
        switch (this) {
          case JSON_SCHEMA, OPENAI -> new Reduction(flat, false, report.all());
          case ANTHROPIC -> new Reduction(withValidNames(flat, report), false, report.all());
          case OPENAI_STRICT -> strict(flat, report);
          case GEMINI ->
              new Reduction(new GeminiSchema(flat, report).reduce(), false, report.all());
        };
    Schemas.useBooleanSchemas(reduction.schema());
    return reduction;
  }

  private static Reduction strict(ObjectNode flat, ReductionReport report) {
    ReductionReport strictReport = new ReductionReport(report);
    try {
      return new Reduction(new StrictSchema(flat, strictReport).reduce(), true, strictReport.all());
    } catch (StrictSchema.Inexpressible e) {
      report.add(e.pointer(), "strict mode cannot express this: " + e.getMessage());
      return new Reduction(flat, false, report.all());
    }
  }

  /** Removes properties whose names Anthropic rejects. */
  private static ObjectNode withValidNames(ObjectNode root, ReductionReport report) {
    Schemas.each(
        root,
        (pointer, schema) -> {
          List<String> rejected =
              schema
                  .path("properties")
                  .propertyStream()
                  .map(Map.Entry::getKey)
                  .filter(name -> !PROPERTY_NAME.matcher(name).matches())
                  .toList();
          rejected.forEach(
              name ->
                  report.add(Schemas.at(pointer + "/properties", name), "invalid property name"));
          if (!rejected.isEmpty()) {
            ((ObjectNode) schema.get("properties")).remove(rejected);
          }
          if (schema.path("required") instanceof ArrayNode required) {
            required.removeIf(name -> rejected.contains(name.asText()));
          }
        });
    return Schemas.removeDangling(root, report);
  }
}
