package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What a provider takes as the parameters of a function. A reduction is never an invalid schema and
 * never allows less than the tool takes, but for the values that a dialect has no words for; what
 * it no longer says is reported, and still checked when the call comes.
 */
public enum SchemaDialect {
  /** JSON Schema 2020-12 as it is, but for what is no schema. */
  JSON_SCHEMA {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      return new Reduction(schema, false, reductionReport.all());
    }
  },

  /** JSON Schema but for unions at the top: OpenAI without strict mode. */
  OPENAI {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      return new Reduction(
          new TopLevel(reductionReport).object(schema), false, reductionReport.all());
    }
  },

  /** The same, with restricted names of properties (tool use, input_schema). */
  ANTHROPIC {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      ObjectNode object = new TopLevel(reductionReport).object(schema);
      return new Reduction(
          PropertyNames.restricted(object, reductionReport), false, reductionReport.all());
    }
  },

  /** OpenAI's Structured Outputs; a schema that cannot be told in them is left as it is. */
  OPENAI_STRICT {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      ObjectNode object = new TopLevel(reductionReport).object(schema);
      ReductionReport more = new ReductionReport(reductionReport);
      try {
        return new Reduction(new StrictSchema(object, more).reduce(), true, more.all());
      } catch (StrictSchema.Inexpressible e) {
        reductionReport.add(e.place(), "strict mode cannot say this: " + e.getMessage());
        return new Reduction(object, false, reductionReport.all());
      }
    }
  },

  /** The OpenAPI subset of Gemini's {@code parameters}: no references, one type each. */
  GEMINI {
    @Override
    Reduction reduced(ObjectNode schema, ReductionReport reductionReport) {
      ObjectNode object = new TopLevel(reductionReport).object(schema);
      return new Reduction(
          new GeminiSchema(object, reductionReport).reduce(), false, reductionReport.all());
    }
  };

  abstract Reduction reduced(ObjectNode schema, ReductionReport reductionReport);

  /**
   * @param schema of a tool's input; anything else than an object is one without parameters
   */
  public Reduction reduce(JsonNode schema) {
    ReductionReport reductionReport = new ReductionReport();
    Reduction reduction =
        reduced(new SchemaNormalizer(reductionReport).sane(schema), reductionReport);
    SchemaNormalizer.spell(reduction.schema());
    return reduction;
  }
}
