package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSyntaxException;
import java.io.IOException;

/** Schemas of tools, reduced to what the APIs of models accept. */
class ReductionFuzzTest {
  private static final int DEPTH = 40;

  @FuzzTest(maxDuration = "1000h")
  void schemaIsReducedWithoutBeingChangedAndWithoutGrowing(byte[] text) throws IOException {
    JsonNode schema;
    try {
      schema = Json.exactTree(JsonScanner.strict(DEPTH).document(text, 0, text.length));
    } catch (JsonSyntaxException | com.fasterxml.jackson.core.JsonProcessingException e) {
      return;
    }
    String before = schema.toString();
    for (SchemaDialect dialect : SchemaDialect.values()) {
      Reduction reduction = dialect.reduce(schema);

      assertEquals(before, schema.toString());
      assertEquals(reduction, dialect.reduce(schema));
      assertTrue(
          reduction.schema().toString().length() <= 20 * before.length() + 1_000,
          () -> dialect + " " + before);
    }
  }
}
