package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * A request to a model.
 *
 * @param instructions the system instructions
 * @param tools the value of {@code tools} in the model's own format, an array
 * @param messages the conversation in the model's own format, oldest message first
 * @param mayCall false if the model must answer without calls
 */
public record ChatRequest(
    String instructions, JsonNode tools, List<JsonNode> messages, boolean mayCall) {

  public ChatRequest {
    messages = List.copyOf(messages);
  }
}
