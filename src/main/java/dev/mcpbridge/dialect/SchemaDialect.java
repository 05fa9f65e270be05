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
    Reduction reduced(ObjectNode schema, Losses losses) {
      return new Reduction(schema, false, losses.all());
    }
  },

  /** JSON Schema but for unions at the top: OpenAI without strict mode. */
  OPENAI {
    @Override
    Reduction reduced(ObjectNode schema, Losses losses) {
      return new Reduction(new TopLevel(losses).object(schema), false, losses.all());
    }
  },

  /** The same, with restricted names of properties (tool use, input_schema). */
  ANTHROPIC {
    @Override
    Reduction reduced(ObjectNode schema, Losses losses) {
      ObjectNode object = new TopLevel(losses).object(schema);
      return new Reduction(PropertyNames.restricted(object, losses), false, losses.all());
    }
  },

  /** OpenAI's Structured Outputs; a schema that cannot be told in them is left as it is. */
  OPENAI_STRICT {
    @Override
    Reduction reduced(ObjectNode schema, Losses losses) {
      ObjectNode object = new TopLevel(losses).object(schema);
      Losses more = new Losses(losses);
      try {
        return new Reduction(new StrictSchema(object, more).reduce(), true, more.all());
      } catch (StrictSchema.Inexpressible e) {
        losses.add(e.place(), "strict mode cannot say this: " + e.getMessage());
        return new Reduction(object, false, losses.all());
      }
    }
  },

  /** The OpenAPI subset of Gemini's {@code parameters}: no references, one type each. */
  GEMINI {
    @Override
    Reduction reduced(ObjectNode schema, Losses losses) {
      ObjectNode object = new TopLevel(losses).object(schema);
      return new Reduction(new GeminiSchema(object, losses).reduce(), false, losses.all());
    }
  };

  abstract Reduction reduced(ObjectNode schema, Losses losses);

  /**
   * @param schema of a tool's input; anything else than an object is one without parameters
   */
  public Reduction reduce(JsonNode schema) {
    Losses losses = new Losses();
    Reduction reduction = reduced(new Keywords(losses).sane(schema), losses);
    Keywords.spell(reduction.schema());
    return reduction;
  }
}
