package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionAnswer;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Between trees, in which models are spoken to, and the bytes of {@link Format}. Stateless. */
final class FormatAdapter {
  static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private FormatAdapter() {}

  /** What a model wrote: numbers keep every digit, since arguments of calls are among it. */
  static JsonNode read(String json) throws JsonProcessingException {
    return Json.exactTree(json);
  }

  static List<JsonNode> results(Format format, List<FunctionAnswer> answers) {
    List<JsonNode> messages = new ArrayList<>();
    tree(format.messages(answers)).forEach(messages::add);
    return messages;
  }

  /** The calls in a message that was put together here. */
  static List<FunctionCall> calls(Format format, JsonNode message) {
    return format.calls(Json.slice(message)).orElse(List.of());
  }

  static ObjectNode message(String role, String text) {
    return JSON.objectNode().put("role", role).put("content", text);
  }

  /** What a provider says of itself in the midst of an answer. */
  static BridgeException failed(JsonNode error) {
    String said =
        error.isTextual() ? error.textValue() : error.path("message").asText(error.toString());
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, "The model's provider failed: " + said);
  }

  /**
   * A stream that ended before its API's word for the end of an answer.
   *
   * @param isBegun whether there was anything before
   */
  static BridgeException brokeOff(boolean isBegun) {
    return new BridgeException(
        ErrorCode.UPSTREAM_PROTOCOL_ERROR,
        isBegun ? "The model's answer broke off" : "The model answered nothing");
  }

  static JsonNode tree(JsonSlice slice) {
    try {
      return Json.exactTree(slice);
    } catch (IOException e) {
      throw new IllegalStateException("it was written here", e);
    }
  }
}
