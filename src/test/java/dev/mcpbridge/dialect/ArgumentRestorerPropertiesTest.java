package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class ArgumentRestorerPropertiesTest {
  @Property(tries = 1_000, edgeCases = EdgeCasesMode.NONE)
  void strictModeArgumentsBecomeValidForTheTool(
      @ForAll("schemas") ObjectNode schema, @ForAll Random random) {
    // Given
    Reduction reduction = SchemaDialect.OPENAI_STRICT.reduce(schema);
    assertTrue(reduction.isStrict(), () -> reduction.reductions().toString());
    JsonNode given = SimpleSchemas.instance(reduction.schema(), random);
    assertEquals(List.of(), Validator.errors(reduction.schema(), given));

    // When
    JsonNode restored = ArgumentRestorer.restore(given, schema);

    // Then
    assertEquals(List.of(), Validator.errors(schema, restored), () -> schema + " " + given);
  }

  @Property(tries = 1_000, edgeCases = EdgeCasesMode.NONE)
  void validArgumentsStayUnchanged(@ForAll("schemas") ObjectNode schema, @ForAll Random random) {
    // Given
    JsonNode given = SimpleSchemas.instance(schema, random);

    // When
    JsonNode restored = ArgumentRestorer.restore(given, schema);

    // Then
    assertSame(given, restored);
  }

  @Provide
  Arbitrary<ObjectNode> schemas() {
    return Arbitraries.randomValue(SimpleSchemas::rich);
  }
}
