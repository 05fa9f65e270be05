package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;

/** Reading and writing shared by several formats. Stateless. */
final class ToolDefinitions {
  private ToolDefinitions() {}

  static void function(JsonWriter out, Function function, String schema, Reduction parameters) {
    out.beginObject();
    members(out, function, schema, parameters);
    if (parameters.isStrict()) {
      out.member("strict", true);
    }
    out.endObject();
  }

  static void members(JsonWriter out, Function function, String schema, Reduction parameters) {
    out.member("name", function.name())
        .member("description", function.description())
        .member(schema, json(parameters.schema()));
  }

  static JsonSlice json(JsonNode tree) {
    return Json.slice(tree);
  }

  /** Replaces absent arguments, for which some clients send null, by an empty object. */
  static JsonSlice orEmpty(JsonSlice arguments) {
    return arguments == null || arguments.equals(JsonSlice.NULL)
        ? JsonSlice.EMPTY_OBJECT
        : arguments;
  }

  /**
   * OpenAI encodes arguments as a string with JSON text, empty for no arguments; some compatible
   * APIs send the object itself.
   */
  static JsonSlice argumentsText(JsonSlice written) {
    String text = JsonObjects.string(written);
    if (text == null) {
      return orEmpty(written);
    }
    return text.isBlank() ? JsonSlice.EMPTY_OBJECT : JsonSlice.of(text);
  }
}
