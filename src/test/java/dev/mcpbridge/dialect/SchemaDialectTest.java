package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.fixture.RawJson;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaDialectTest {
  /** JSON_SCHEMA keeps unions at the top level, so references to them remain valid. */
  private static final Set<SchemaDialect> PROVIDERS =
      EnumSet.complementOf(EnumSet.of(SchemaDialect.JSON_SCHEMA));

  @ParameterizedTest
  @EnumSource(SchemaDialect.class)
  void missingSchemaBecomesAnObjectWithoutProperties(SchemaDialect dialect) {
    for (JsonNode missing :
        new JsonNode[] {null, RawJson.tree("true"), RawJson.tree("[]"), RawJson.tree("{}")}) {
      ObjectNode schema = dialect.reduce(missing).schema();
      assertTrue(schema.path("properties").isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'definitions':[{'type':'string'}],'properties':{'a':{'$ref':'#/definitions/0'}}}",
        "{'properties':{'a':{'$ref':'#/properties'}}}",
        "{'oneOf':[{'type':'string'}],'properties':{'a':{'$ref':'#/oneOf/0'}}}",
        "{'properties':{'a':{'allOf':[{'$ref':'#/oneOf/0'}]}},'oneOf':[{'type':'string'}]}",
        "{'x':{'type':'string'},'properties':{'a':{'$ref':'#/x'}}}"
      })
  void removesDanglingReferences(String text) {
    for (SchemaDialect dialect : PROVIDERS) {
      // When
      Reduction reduction = dialect.reduce(RawJson.tree(text));

      // Then
      assertFalse(reduction.schema().toString().contains("$ref"), dialect.name());
      assertFalse(reduction.reductions().isEmpty());
    }
  }

  @Test
  void keepsReferenceInAPropertyNamedProperties() {
    JsonNode schema =
        RawJson.tree(
            "{'properties':{'properties':{'$ref':'#/$defs/a'}},'$defs':{'a':{'type':'string'}}}");

    Reduction reduction = SchemaDialect.ANTHROPIC.reduce(schema);

    assertEquals("#/$defs/a", reduction.schema().at("/properties/properties/$ref").textValue());
    assertEquals(List.of(), reduction.reductions());
  }

  @Test
  void flattensALargeUnion() {
    // Given
    StringBuilder branches = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      branches.append(i == 0 ? "" : ",").append("{'properties':{'kind':{'const':'k" + i + "'}}}");
    }

    // When
    ObjectNode schema =
        SchemaDialect.OPENAI.reduce(RawJson.tree("{'oneOf':[" + branches + "]}")).schema();

    // Then
    assertEquals(30, schema.at("/properties/kind/anyOf").size());
  }

  @Test
  void mutuallyRecursiveDefinitionsTerminate() {
    // Given
    ObjectNode schema = RandomSchemas.JSON.objectNode();
    ObjectNode definitions = schema.putObject("$defs");
    schema.putArray("anyOf").addObject().put("$ref", "#/$defs/d0");
    for (int i = 0; i < 40; i++) {
      ObjectNode definition = definitions.putObject("d" + i);
      definition.putObject("properties").putObject("p" + i).put("type", "string");
      for (int j = 0; j < 40; j++) {
        definition.withArrayProperty("anyOf").addObject().put("$ref", "#/$defs/d" + j);
      }
    }

    // When
    Reduction reduction = SchemaDialect.OPENAI.reduce(schema);

    // Then
    assertEquals(40, reduction.schema().get("properties").size());
  }

  @Test
  void duplicateDefinitionNamesPreventStrictMode() {
    JsonNode schema =
        RawJson.tree(
            "{'properties':{'a':{'$ref':'#/$defs/x'},'b':{'$ref':'#/definitions/x'}},"
                + "'$defs':{'x':{'type':'string'}},'definitions':{'x':{'type':'number'}}}");

    assertFalse(SchemaDialect.OPENAI_STRICT.reduce(schema).isStrict());
  }

  @Test
  void openObjectsPreventStrictMode() {
    JsonNode open = RawJson.tree("{'type':'object','additionalProperties':true}");

    assertFalse(SchemaDialect.OPENAI_STRICT.reduce(open).isStrict());
    assertTrue(SchemaDialect.OPENAI_STRICT.reduce(RawJson.tree("{'type':'object'}")).isStrict());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'properties':{'a':{'allOf':[{'$ref':'#/properties/a','description':'d'}]}}}",
        "{'properties':{'a':{'anyOf':[{'allOf':[{'$ref':'#/properties/a'}]},{'type':'null'}]}}}",
        "{'properties':{'a':{'$ref':'#/properties/a'}}}",
        "{'properties':{'a':{'type':'integer','multipleOf':1e400,'minimum':1e400}}}"
      })
  void recursiveSchemasAndHugeNumbersTerminate(String text) {
    for (SchemaDialect dialect : SchemaDialect.values()) {
      assertEquals(1, dialect.reduce(RawJson.tree(text)).schema().get("properties").size());
    }
  }
}
