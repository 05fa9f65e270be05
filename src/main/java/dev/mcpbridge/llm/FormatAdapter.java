package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Converts between JSON trees and the byte slices of {@link Format}. Stateless. */
final class FormatAdapter {
  static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private FormatAdapter() {}

  static List<JsonNode> results(Format format, List<FunctionResult> answers) {
    List<JsonNode> messages = new ArrayList<>();
    tree(format.messages(answers)).forEach(messages::add);
    return messages;
  }

  /** The calls in an assembled message. */
  static List<FunctionCall> calls(Format format, JsonNode message) {
    return format.calls(Json.slice(message)).orElse(List.of());
  }

  static ObjectNode message(String role, String text) {
    return JSON.objectNode().put("role", role).put("content", text);
  }

  /** An error that the provider reports within a stream. */
  static BridgeException providerError(JsonNode error) {
    String message =
        error.isTextual() ? error.textValue() : error.path("message").asText(error.toString());
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, "The model's provider failed: " + message);
  }

  /**
   * The error for a stream that ended before its end marker.
   *
   * @param isBegun whether any part of an answer has arrived
   */
  static BridgeException incompleteAnswer(boolean isBegun) {
    return new BridgeException(
        ErrorCode.UPSTREAM_PROTOCOL_ERROR,
        isBegun ? "The model's answer ended prematurely" : "The model returned no answer");
  }

  static JsonNode tree(JsonSlice slice) {
    try {
      return Json.exactTree(slice);
    } catch (IOException e) {
      throw new IllegalStateException("invalid JSON of our own", e);
    }
  }
}
