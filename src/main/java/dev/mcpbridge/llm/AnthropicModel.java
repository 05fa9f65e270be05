package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import java.util.Map;

/** Anthropic's Messages API. The base URL is the root, as in Anthropic's SDKs. */
final class AnthropicModel extends HttpModel {
  private static final int MAX_TOKENS = 8_192;

  AnthropicModel(ModelEndpoint modelEndpoint) {
    super(
        modelEndpoint,
        Format.ANTHROPIC,
        Map.of("x-api-key", modelEndpoint.key(), "anthropic-version", "2023-06-01"));
  }

  @Override
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException {
    AnthropicAnswer answer = new AnthropicAnswer(modelListener);
    post("/v1/messages", request(chatRequest), modelListener, answer::take);
    return answer.reply();
  }

  private ObjectNode request(ChatRequest chatRequest) {
    ObjectNode request = FormatAdapter.JSON.objectNode().put("model", modelEndpoint.model());
    request.put(
        "max_tokens", modelEndpoint.maxTokens() > 0 ? modelEndpoint.maxTokens() : MAX_TOKENS);
    request.put("system", chatRequest.instructions());
    request.putArray("messages").addAll(chatRequest.messages());
    if (!chatRequest.tools().isEmpty()) {
      request.set("tools", chatRequest.tools());
      if (!chatRequest.mayCall()) {
        request.putObject("tool_choice").put("type", "none");
      }
    }
    return request.put("stream", true);
  }
}
