package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.protocol.PercentEncoding;
import java.util.Map;

/** Gemini's generateContent API. The base URL is the root, as in Google's SDKs. */
final class GeminiModel extends HttpModel {
  GeminiModel(ModelEndpoint modelEndpoint) {
    super(modelEndpoint, Format.GEMINI, Map.of("x-goog-api-key", modelEndpoint.key()));
  }

  @Override
  public JsonNode userMessage(String text) {
    ObjectNode message = FormatAdapter.JSON.objectNode().put("role", "user");
    message.putArray("parts").addObject().put("text", text);
    return message;
  }

  @Override
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException {
    GeminiAnswer answer = new GeminiAnswer(modelListener);
    String name = PercentEncoding.encoded(modelEndpoint.model()).replace("%2F", "/");
    String path = "/v1beta/models/" + name + ":streamGenerateContent?alt=sse";
    post(path, request(chatRequest), modelListener, answer::take);
    return answer.reply();
  }

  private ObjectNode request(ChatRequest chatRequest) {
    ObjectNode request = FormatAdapter.JSON.objectNode();
    request
        .putObject("systemInstruction")
        .putArray("parts")
        .addObject()
        .put("text", chatRequest.instructions());
    request.putArray("contents").addAll(chatRequest.messages());
    if (!chatRequest.tools().isEmpty()) {
      request.set("tools", chatRequest.tools());
      if (!chatRequest.mayCall()) {
        request.putObject("toolConfig").putObject("functionCallingConfig").put("mode", "NONE");
      }
    }
    if (modelEndpoint.maxTokens() > 0) {
      request.putObject("generationConfig").put("maxOutputTokens", modelEndpoint.maxTokens());
    }
    return request;
  }
}
