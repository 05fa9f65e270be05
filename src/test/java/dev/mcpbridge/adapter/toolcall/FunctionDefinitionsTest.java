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

  @ParameterizedTest
  @EnumSource(
      value = Format.class,
      names = {"OPENAI_CHAT", "OPENAI_RESPONSES"})
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
      assertEquals(List.of(), reduction.lost(), schema.toString());
      assertEquals(function.name(), tool.path("name").asText());
      assertEquals(function.description(), tool.path("description").asText());
      assertEquals(
          Json.mapper().readTree(schema.toString()),
          Json.mapper().readTree(tool.path("inputSchema").toString()));
    }
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
