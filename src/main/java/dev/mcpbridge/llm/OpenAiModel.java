package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import java.util.Map;

/**
 * The Chat Completions API of OpenAI, Ollama, vLLM, llama.cpp and most others. The base URL
 * includes {@code /v1}, as in OpenAI's SDKs.
 */
final class OpenAiModel extends HttpModel {
  OpenAiModel(ModelEndpoint modelEndpoint) {
    super(modelEndpoint, Format.OPENAI_CHAT, authorization(modelEndpoint));
  }

  static Map<String, String> authorization(ModelEndpoint modelEndpoint) {
    return modelEndpoint.key() == null
        ? Map.of()
        : Map.of("authorization", "Bearer " + modelEndpoint.key());
  }

  @Override
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException {
    OpenAiAnswer answer = new OpenAiAnswer(modelListener);
    post("/chat/completions", request(chatRequest), modelListener, answer::take);
    return answer.reply();
  }

  private ObjectNode request(ChatRequest chatRequest) {
    ObjectNode request = FormatAdapter.JSON.objectNode().put("model", modelEndpoint.model());
    ArrayNode messages = request.putArray("messages");
    messages.add(FormatAdapter.message("system", chatRequest.instructions()));
    messages.addAll(chatRequest.messages());
    if (!chatRequest.tools().isEmpty()) {
      request.set("tools", chatRequest.tools());
      if (!chatRequest.mayCall()) {
        request.put("tool_choice", "none");
      }
    }
    if (modelEndpoint.maxTokens() > 0) {
      request.put("max_completion_tokens", modelEndpoint.maxTokens());
    }
    request.put("stream", true).putObject("stream_options").put("include_usage", true);
    return request;
  }
}
