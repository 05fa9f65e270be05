package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import java.util.Map;

/** Anthropic's Messages. The base is the one of its SDKs, the root. */
final class AnthropicModel implements ChatModel {
  private static final int MAX_TOKENS = 8_192;

  private final Endpoint endpoint;
  private final ModelApi api;

  AnthropicModel(Endpoint endpoint) {
    this.endpoint = endpoint;
    this.api =
        new ModelApi(
            Map.of("x-api-key", endpoint.key(), "anthropic-version", "2023-06-01"), endpoint);
  }

  @Override
  public String name() {
    return endpoint.toString();
  }

  @Override
  public Format format() {
    return Format.ANTHROPIC;
  }

  @Override
  public Reply reply(Conversation conversation, Heard heard) throws InterruptedException {
    AnthropicAnswer answer = new AnthropicAnswer(heard);
    api.post(endpoint.at("/v1/messages"), request(conversation), heard, answer::take);
    return answer.reply();
  }

  private ObjectNode request(Conversation conversation) {
    ObjectNode request = Native.JSON.objectNode().put("model", endpoint.model());
    request.put("max_tokens", endpoint.maxTokens() > 0 ? endpoint.maxTokens() : MAX_TOKENS);
    request.put("system", conversation.instructions());
    request.putArray("messages").addAll(conversation.messages());
    if (!conversation.tools().isEmpty()) {
      request.set("tools", conversation.tools());
      if (!conversation.mayCall()) {
        request.putObject("tool_choice").put("type", "none");
      }
    }
    return request.put("stream", true);
  }
}
