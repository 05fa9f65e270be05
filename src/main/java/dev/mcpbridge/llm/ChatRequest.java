package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * Everything that a model is told.
 *
 * @param instructions what is true for the whole of it
 * @param tools the value of {@code tools} in the model's own format, an array
 * @param messages in the model's own format, oldest first
 * @param mayCall false where it has to answer without any more calls
 */
public record ChatRequest(
    String instructions, JsonNode tools, List<JsonNode> messages, boolean mayCall) {

  public ChatRequest {
    messages = List.copyOf(messages);
  }
}
