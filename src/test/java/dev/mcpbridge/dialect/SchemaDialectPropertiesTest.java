package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class SchemaDialectPropertiesTest {
  private static final int SCHEMAS = 10_000;

  @Property(tries = SCHEMAS, edgeCases = EdgeCasesMode.NONE)
  void reducedSchemasFollowTheProviderRules(@ForAll("schemas") JsonNode schema) {
    for (SchemaDialect dialect : SchemaDialect.values()) {
      // When
      Reduction reduction = dialect.reduce(schema);

      // Then
      assertEquals(List.of(), violations(dialect, reduction), dialect::name);
    }
  }

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void reductionIsValidAndDeterministic(@ForAll("schemas") JsonNode schema) {
    // Given
    String before = schema.toString();

    for (SchemaDialect dialect : SchemaDialect.values()) {
      // When
      Reduction reduction = dialect.reduce(schema);

      // Then
      assertEquals(before, schema.toString());
      assertEquals(reduction, dialect.reduce(schema));
      if (dialect != SchemaDialect.GEMINI) {
        assertEquals(List.of(), Validator.schemaErrors(serialized(reduction)));
      }
    }
  }

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void plainSchemasLoseNothing(@ForAll("plain") ObjectNode schema) {
    for (SchemaDialect dialect : SchemaDialect.values()) {
      assertEquals(List.of(), dialect.reduce(schema).reductions(), dialect.name());
    }
    assertTrue(SchemaDialect.OPENAI_STRICT.reduce(schema).isStrict());
  }

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void plainSchemasStayUnchanged(@ForAll("plain") ObjectNode schema) {
    for (SchemaDialect dialect : List.of(SchemaDialect.OPENAI, SchemaDialect.ANTHROPIC)) {
      JsonNode reduced = dialect.reduce(schema).schema();
      assertEquals(withoutEmptyRequired(schema), withoutEmptyRequired(reduced));
    }
  }

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void reducedSchemaAcceptsWhatTheToolAccepts(
      @ForAll("branching") ObjectNode schema, @ForAll Random random) {
    // Given
    JsonNode instance = SimpleSchemas.instance(schema, random);
    if (!Validator.errors(schema, instance).isEmpty()) {
      return;
    }

    // When
    ObjectNode reduced = SchemaDialect.OPENAI.reduce(schema).schema();

    // Then
    assertEquals(List.of(), Validator.errors(reduced, instance), () -> instance.toString());
  }

  @Provide
  Arbitrary<JsonNode> schemas() {
    return Arbitraries.randomValue(RandomSchemas::any);
  }

  @Provide
  Arbitrary<ObjectNode> plain() {
    return Arbitraries.randomValue(SimpleSchemas::plain);
  }

  @Provide
  Arbitrary<ObjectNode> branching() {
    return Arbitraries.randomValue(SimpleSchemas::branching);
  }

  private static List<String> violations(SchemaDialect dialect, Reduction reduction) {
    ObjectNode serialized = serialized(reduction);
    return switch (dialect) {
      case JSON_SCHEMA -> List.of();
      case OPENAI -> ProviderRules.openAi(serialized);
      case ANTHROPIC -> ProviderRules.anthropic(serialized);
      case OPENAI_STRICT ->
          reduction.isStrict()
              ? ProviderRules.strict(serialized)
              : ProviderRules.openAi(serialized);
      case GEMINI -> ProviderRules.gemini(serialized);
    };
  }

  /** The schema as it is sent to the provider. */
  private static ObjectNode serialized(Reduction reduction) {
    try {
      return (ObjectNode) Json.tree(Json.slice(reduction.schema()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ObjectNode withoutEmptyRequired(JsonNode schema) {
    ObjectNode copy = schema.deepCopy();
    if (copy.path("required").isEmpty()) {
      copy.remove("required");
    }
    return copy;
  }
}
