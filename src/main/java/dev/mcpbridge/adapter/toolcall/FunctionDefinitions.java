package dev.mcpbridge.adapter.toolcall;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Converts function definitions to tool definitions; copies schemas byte for byte. Stateless. */
final class FunctionDefinitions {
  private static final int MAX_DEPTH = 200;
  private static final List<String> SCHEMAS =
      List.of("parameters", "input_schema", "parametersJsonSchema", "inputSchema");
  private static final JsonSlice ANY = JsonSlice.of("{\"type\":\"object\"}");

  private FunctionDefinitions() {}

  /**
   * Reads an array of definitions, or an object with an array under {@code tools}, in the format of
   * OpenAI's two APIs, Anthropic, Gemini or MCP.
   */
  static List<JsonSlice> read(byte[] text) {
    JsonSlice list = document(text);
    if (list.isObject()) {
      list = JsonObjects.members(list).getOrDefault("tools", JsonSlice.NULL);
    }
    if (!list.isArray()) {
      throw unusable("expected an array of functions");
    }
    List<JsonSlice> tools = new ArrayList<>();
    List<JsonSlice> functions =
        JsonObjects.elements(list).stream().flatMap(FunctionDefinitions::declared).toList();
    for (int i = 0; i < functions.size(); i++) {
      tools.add(tool(functions.get(i), i));
    }
    return tools;
  }

  /** Gemini groups several declarations in one element. */
  private static Stream<JsonSlice> declared(JsonSlice definition) {
    JsonSlice declarations = JsonObjects.members(definition).get("functionDeclarations");
    return declarations != null && declarations.isArray()
        ? JsonObjects.elements(declarations).stream()
        : Stream.of(definition);
  }

  private static JsonSlice document(byte[] text) {
    try {
      return JsonScanner.strict(MAX_DEPTH).document(text, 0, text.length);
    } catch (JsonSyntaxException e) {
      throw unusable(e.getMessage());
    }
  }

  private static JsonSlice tool(JsonSlice definition, int index) {
    Map<String, JsonSlice> outer = JsonObjects.members(definition);
    Map<String, JsonSlice> function =
        outer.containsKey("function") ? JsonObjects.members(outer.get("function")) : outer;
    String name = JsonObjects.string(function.get("name"));
    if (name == null || name.isBlank()) {
      throw unusable("function " + index + " has no name");
    }
    JsonSlice parameters =
        SCHEMAS.stream().map(function::get).filter(Objects::nonNull).findFirst().orElse(ANY);
    JsonWriter out = new JsonWriter(definition.length() + 64).beginObject();
    out.member("name", name);
    if (function.containsKey("description")) {
      out.member("description", function.get("description"));
    }
    return out.member("inputSchema", parameters.isObject() ? parameters : ANY)
        .endObject()
        .toSlice();
  }

  private static BridgeException unusable(String reason) {
    return new BridgeException(
        ErrorCode.START_FAILED, "The function definitions cannot be used: " + reason);
  }
}
