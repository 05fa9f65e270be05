package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import java.util.Map;

/**
 * Chat Completions, as OpenAI, Ollama, vLLM, llama.cpp and most others have it. The base is the one
 * of OpenAI's SDKs, with {@code /v1}.
 */
final class OpenAiModel implements ChatModel {
  private final Endpoint endpoint;
  private final ModelApi api;

  OpenAiModel(Endpoint endpoint) {
    this.endpoint = endpoint;
    this.api = new ModelApi(authorization(endpoint), endpoint);
  }

  static Map<String, String> authorization(Endpoint endpoint) {
    return endpoint.key() == null ? Map.of() : Map.of("authorization", "Bearer " + endpoint.key());
  }

  @Override
  public String name() {
    return endpoint.toString();
  }

  @Override
  public Format format() {
    return Format.OPENAI_CHAT;
  }

  @Override
  public Reply reply(Conversation conversation, Heard heard) throws InterruptedException {
    OpenAiAnswer answer = new OpenAiAnswer(heard);
    api.post(endpoint.at("/chat/completions"), request(conversation), heard, answer::take);
    return answer.reply();
  }

  private ObjectNode request(Conversation conversation) {
    ObjectNode request = Native.JSON.objectNode().put("model", endpoint.model());
    ArrayNode messages = request.putArray("messages");
    messages.add(Native.message("system", conversation.instructions()));
    messages.addAll(conversation.messages());
    if (!conversation.tools().isEmpty()) {
      request.set("tools", conversation.tools());
      if (!conversation.mayCall()) {
        request.put("tool_choice", "none");
      }
    }
    if (endpoint.maxTokens() > 0) {
      request.put("max_completion_tokens", endpoint.maxTokens());
    }
    request.put("stream", true).putObject("stream_options").put("include_usage", true);
    return request;
  }
}
