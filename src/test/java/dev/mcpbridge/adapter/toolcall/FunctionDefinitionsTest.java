package dev.mcpbridge.adapter.toolcall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.Function;
import dev.mcpbridge.dialect.Reduction;
import dev.mcpbridge.dialect.SimpleSchemas;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionDefinitionsTest {
  private static final int SCHEMAS = 2_000;
  private static final String ANY = "{\"type\":\"object\"}";

  @ParameterizedTest
  @EnumSource(Format.class)
  void whatIsWrittenAsAFunctionIsReadAsTheSameTool(Format format) throws Exception {
    for (int seed = 0; seed < SCHEMAS; seed++) {
      // Given
      ObjectNode schema =
          seed % 2 == 0
              ? SimpleSchemas.plain(new Random(seed))
              : SimpleSchemas.rich(new Random(seed));
      Function function = new Function("f_" + seed, "says \"what\" it does", schema);
      Reduction reduction = format.dialect(false).reduce(schema);

      // When
      JsonSlice list = format.tools(List.of(format.definition(function, reduction)));
      JsonNode tool = Json.tree(FunctionDefinitions.read(list.toBytes()).get(0));

      // Then
      boolean isWhole = format == Format.GEMINI || reduction.lost().isEmpty();
      assertTrue(isWhole, schema + " " + reduction.lost());
      assertEquals(function.name(), tool.path("name").asText());
      assertEquals(function.description(), tool.path("description").asText());
      // Gemini's schemas are a language of their own
      JsonNode kept = format == Format.GEMINI ? reduction.schema() : schema;
      assertEquals(meant(kept), meant(tool.path("inputSchema")));
    }
  }

  /** One without parameters is of no arguments. */
  private static JsonNode meant(JsonNode schema) throws Exception {
    return Json.mapper().readTree(schema.isEmpty() ? ANY : schema.toString());
  }

  @Test
  void readsWhatMcpAndGeminiWriteBesideOthers() throws Exception {
    List<JsonSlice> tools =
        read(
            "[{\"functionDeclarations\":[{\"name\":\"a\",\"parametersJsonSchema\":{\"title\":\"A\"}},"
                + "{\"name\":\"b\"}]},{\"name\":\"c\",\"inputSchema\":{\"title\":\"C\"}}]");

    assertEquals(3, tools.size());
    assertEquals("A", Json.tree(tools.get(0)).at("/inputSchema/title").asText());
    assertEquals("object", Json.tree(tools.get(1)).at("/inputSchema/type").asText());
    assertEquals("C", Json.tree(tools.get(2)).at("/inputSchema/title").asText());
  }

  @Test
  void readsAListUnderToolsAndFunctionsWithoutParameters() throws Exception {
    List<JsonSlice> tools = read("{\"tools\":[{\"name\":\"now\"}]}");

    assertEquals(1, tools.size());
    assertEquals("object", Json.tree(tools.get(0)).at("/inputSchema/type").asText());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "{}", "[1]", "[{}]", "[{\"function\":{}}]", "[{\"name\":7}]", "[", "x"})
  void saysWhatIsWrongWithDefinitionsThatAreNone(String text) {
    BridgeException failure = assertThrows(BridgeException.class, () -> read(text));

    assertTrue(failure.getMessage().startsWith("The definitions of functions"), text);
  }

  private static List<JsonSlice> read(String text) {
    return FunctionDefinitions.read(text.getBytes(StandardCharsets.UTF_8));
  }
}
