package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The JSON Schema dialect that a provider accepts for function parameters. A reduced schema is
 * always valid and accepts all arguments that the tool accepts, except values that the dialect
 * cannot express. Removed constraints are reported, and still checked when the tool is called.
 */
public enum SchemaDialect {
  /** JSON Schema 2020-12; only invalid keywords are removed. */
  JSON_SCHEMA {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      return new Reduction(schema, false, reductionReport.all());
    }
  },

  /** JSON Schema without unions at the top level: OpenAI without strict mode. */
  OPENAI {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      return new Reduction(
          new TopLevelFlattener(reductionReport).flatten(schema), false, reductionReport.all());
    }
  },

  /** Like OPENAI, with restricted property names (tool use, input_schema). */
  ANTHROPIC {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      ObjectNode object = new TopLevelFlattener(reductionReport).flatten(schema);
      return new Reduction(
          PropertyNames.removeInvalid(object, reductionReport), false, reductionReport.all());
    }
  },

  /** OpenAI's Structured Outputs; a schema they cannot express is reduced as for OPENAI. */
  OPENAI_STRICT {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      ObjectNode object = new TopLevelFlattener(reductionReport).flatten(schema);
      ReductionReport strictReport = new ReductionReport(reductionReport);
      try {
        return new Reduction(
            new StrictSchema(object, strictReport).reduce(), true, strictReport.all());
      } catch (StrictSchema.Inexpressible e) {
        reductionReport.add(e.pointer(), "strict mode cannot express this: " + e.getMessage());
        return new Reduction(object, false, reductionReport.all());
      }
    }
  },

  /** The OpenAPI subset of Gemini's {@code parameters}: no references, one type each. */
  GEMINI {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      ObjectNode object = new TopLevelFlattener(reductionReport).flatten(schema);
      return new Reduction(
          new GeminiSchema(object, reductionReport).reduce(), false, reductionReport.all());
    }
  };

  abstract Reduction reduced(ObjectNode schema, ReductionReport reductionReport);

  /**
   * @param schema a tool's input schema; anything but an object means no parameters
   */
  public Reduction reduce(JsonNode schema) {
    ReductionReport reductionReport = new ReductionReport();
    Reduction reduction =
        reduced(new SchemaNormalizer(reductionReport).normalize(schema), reductionReport);
    SchemaNormalizer.useBooleanSchemas(reduction.schema());
    return reduction;
  }
}
