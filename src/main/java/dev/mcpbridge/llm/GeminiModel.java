package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.protocol.Percent;
import java.util.Map;

/** Gemini's generateContent. The base is the one of its SDKs, the root. */
final class GeminiModel implements ChatModel {
  private final Endpoint endpoint;
  private final ModelApi api;

  GeminiModel(Endpoint endpoint) {
    this.endpoint = endpoint;
    this.api = new ModelApi(Map.of("x-goog-api-key", endpoint.key()), endpoint);
  }

  @Override
  public String name() {
    return endpoint.toString();
  }

  @Override
  public Format format() {
    return Format.GEMINI;
  }

  @Override
  public JsonNode user(String text) {
    ObjectNode message = Native.JSON.objectNode().put("role", "user");
    message.putArray("parts").addObject().put("text", text);
    return message;
  }

  @Override
  public Reply reply(Conversation conversation, Heard heard) throws InterruptedException {
    GeminiAnswer answer = new GeminiAnswer(heard);
    String name = Percent.encoded(endpoint.model()).replace("%2F", "/");
    String path = "/v1beta/models/" + name + ":streamGenerateContent?alt=sse";
    api.post(endpoint.at(path), request(conversation), heard, answer::take);
    return answer.reply();
  }

  private ObjectNode request(Conversation conversation) {
    ObjectNode request = Native.JSON.objectNode();
    request
        .putObject("systemInstruction")
        .putArray("parts")
        .addObject()
        .put("text", conversation.instructions());
    request.putArray("contents").addAll(conversation.messages());
    if (!conversation.tools().isEmpty()) {
      request.set("tools", conversation.tools());
      if (!conversation.mayCall()) {
        request.putObject("toolConfig").putObject("functionCallingConfig").put("mode", "NONE");
      }
    }
    if (endpoint.maxTokens() > 0) {
      request.putObject("generationConfig").put("maxOutputTokens", endpoint.maxTokens());
    }
    return request;
  }
}
