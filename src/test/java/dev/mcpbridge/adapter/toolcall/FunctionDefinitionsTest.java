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
  void functionsOfEveryFormatAreReadBackAsTools(Format format) throws Exception {
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
      boolean isLossless = format == Format.GEMINI || reduction.reductions().isEmpty();
      assertTrue(isLossless, schema + " " + reduction.reductions());
      assertEquals(function.name(), tool.path("name").asText());
      assertEquals(function.description(), tool.path("description").asText());
      // Gemini has its own schema dialect
      JsonNode expected = format == Format.GEMINI ? reduction.schema() : schema;
      assertEquals(normalized(expected), normalized(tool.path("inputSchema")));
    }
  }

  /** An empty schema stands for a function without parameters. */
  private static JsonNode normalized(JsonNode schema) throws Exception {
    return Json.mapper().readTree(schema.isEmpty() ? ANY : schema.toString());
  }

  @Test
  void readsMcpAndGeminiDefinitions() throws Exception {
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
  void readsToolsMemberAndFunctionsWithoutParameters() throws Exception {
    List<JsonSlice> tools = read("{\"tools\":[{\"name\":\"now\"}]}");

    assertEquals(1, tools.size());
    assertEquals("object", Json.tree(tools.get(0)).at("/inputSchema/type").asText());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "{}", "[1]", "[{}]", "[{\"function\":{}}]", "[{\"name\":7}]", "[", "x"})
  void rejectsInvalidDefinitions(String text) {
    BridgeException failure = assertThrows(BridgeException.class, () -> read(text));

    assertTrue(failure.getMessage().startsWith("The function definitions"), text);
  }

  private static List<JsonSlice> read(String text) {
    return FunctionDefinitions.read(text.getBytes(StandardCharsets.UTF_8));
  }
}
