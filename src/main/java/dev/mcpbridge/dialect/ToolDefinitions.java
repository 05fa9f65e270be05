package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Reading and writing shared by several formats. Stateless. */
final class ToolDefinitions {
  private ToolDefinitions() {}

  static void members(JsonWriter out, Function function, String schema, Reduction parameters) {
    out.member("name", function.name())
        .member("description", function.description())
        .member(schema, Json.slice(parameters.schema()));
  }

  /** The elements of a list; empty if it is not one. */
  static Optional<List<JsonSlice>> elements(JsonSlice list) {
    return Optional.ofNullable(list).filter(JsonSlice::isArray).map(JsonObjects::elements);
  }

  /** Like {@link #elements}; no elements if the list is absent or null. */
  static Optional<List<JsonSlice>> itemsOrNone(JsonSlice list) {
    return list == null || list.equals(JsonSlice.NULL) ? Optional.of(List.of()) : elements(list);
  }

  /** The items of the message in the first of a response's alternatives. */
  static Optional<List<JsonSlice>> itemsOfFirst(
      JsonSlice alternatives, String message, String items) {
    return JsonObjects.elements(alternatives).stream()
        .limit(1)
        .map(first -> JsonObjects.members(first).get(message))
        .filter(Objects::nonNull)
        .findFirst()
        .map(content -> itemsOrNone(JsonObjects.members(content).get(items)))
        .orElse(Optional.of(List.of()));
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
