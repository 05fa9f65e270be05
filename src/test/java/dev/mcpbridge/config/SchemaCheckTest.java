package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that the reader and a complete JSON Schema validator agree on each value. */
class SchemaCheckTest {
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

  @Test
  void everyKeyAcceptsTheValuesThatAValidatorAccepts() {
    List<JsonNode> keys = new ArrayList<>();
    collect(ConfigSchema.root(), keys);
    List<String> different = new ArrayList<>();
    for (JsonNode key : keys) {
      Schema validator = REGISTRY.getSchema(key);
      for (JsonNode value : values(key)) {
        boolean fits = SchemaCheck.violation(value, key) == null;
        if (fits != validator.validate(value).isEmpty()) {
          different.add(key + " " + value);
        }
      }
    }

    assertEquals(List.of(), different);
    assertTrue(keys.size() > 90, "keys: " + keys.size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'integer','minimum':1,'maximum':9} | 'x' | expected a whole number from 1 to 9",
        "{'type':'integer','minimum':1,'maximum':9} | 1.5 | expected a whole number from 1 to 9",
        "{'type':'number','minimum':0.1,'maximum':9,'unit':'seconds'} | 0"
            + " | expected a number of seconds from 0.1 to 9",
        "{'type':'number','minimum':0.1,'maximum':9} | 10 | expected a number from 0.1 to 9",
        "{'type':['string','integer'],'unit':'bytes','minimum':4,'maximum':8} | '2' "
            + "| expected a size like 512m, from 4 to 8 bytes",
        "{'type':['string','integer'],'unit':'bytes','minimum':4,'maximum':8} | 'much' "
            + "| expected a size like 512m, from 4 to 8 bytes",
        "{'type':'string','enum':['a','b']} | 'c' | expected one of a, b",
        "{'type':'string','minLength':1} | ' ' | expected a non-empty string",
        "{'type':'string','maxLength':2} | 'abc' | expected at most 2 characters",
        "{'type':'string','pattern':'^x','patternErrorMessage':'expected an x'} | 'y'"
            + " | expected an x",
        "{'type':'array','maxItems':1} | [1,2] | expected a list of at most 1 strings",
        "{'type':'array','minItems':1} | [] | expected a non-empty list",
        "{'type':'boolean'} | 1 | expected true or false",
        "{'type':'object'} | [] | expected an object",
        "{'type':'string'} | {} | expected a string",
      })
  void messageNamesTheExpectedValue(String schema, String value, String expected) throws Exception {
    assertEquals(expected, SchemaCheck.violation(tree(value), tree(schema)));
  }

  private static JsonNode tree(String singleQuoted) throws Exception {
    return Json.tree(singleQuoted.replace('\'', '"'));
  }

  /** The schemas of single keys. */
  private static void collect(JsonNode schema, List<JsonNode> keys) {
    schema
        .path("properties")
        .properties()
        .forEach(
            property -> {
              if (property.getValue().has("description")
                  && !property.getValue().has("const")
                  && !property.getValue().has("not")
                  && !property.getValue().has("properties")
                  && !property.getValue().toString().contains("$ref")) {
                keys.add(property.getValue());
              }
            });
    schema.forEach(child -> collect(child, keys));
  }

  /** Values of each type, and those at and beyond the bounds of the schema. */
  private static List<JsonNode> values(JsonNode schema) {
    List<JsonNode> values = new ArrayList<>();
    ArrayNode many = Json.mapper().createArrayNode();
    try {
      values.add(Json.tree("true"));
      values.add(Json.tree("\"text\""));
      values.add(Json.tree("\"\""));
      values.add(Json.tree("0"));
      values.add(Json.tree("2"));
      values.add(Json.tree("1.5"));
      values.add(Json.tree("[]"));
      for (String bound : List.of("minimum", "maximum")) {
        if (schema.has(bound)) {
          values.add(schema.get(bound));
          values.add(Json.tree("" + (schema.get(bound).asLong() - 1)));
          values.add(Json.tree("" + (schema.get(bound).asLong() + 1)));
        }
      }
      schema.path("enum").forEach(values::add);
      for (int i = 0; i <= schema.path("maxItems").asInt(); i++) {
        many.add("a" + i);
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    if (schema.has("maxItems") && !schema.path("items").has("pattern")) {
      values.add(many);
    }
    if (schema.has("default")) {
      values.add(schema.get("default"));
    }
    // The bounds of sizes in strings and the elements of lists are checked by other code.
    values.removeIf(value -> schema.path("unit").asText().equals("bytes") && value.isTextual());
    values.removeIf(value -> value.isArray() && !value.isEmpty() && value != many);
    return values;
  }
}
