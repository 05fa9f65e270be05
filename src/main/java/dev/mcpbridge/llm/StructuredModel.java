package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A model without tool calls. It is prompted for JSON that matches a schema, with either a call or
 * text for the user. It needs only Chat Completions. The request is repeated a few times if the
 * answer does not match.
 */
final class StructuredModel extends HttpModel {
  private static final int MAX_ATTEMPTS = 4;

  private boolean supportsSchemas = true;
  private int calls;

  StructuredModel(ModelEndpoint modelEndpoint) {
    super(modelEndpoint, Format.OPENAI_CHAT, OpenAiModel.authorization(modelEndpoint));
  }

  @Override
  public String name() {
    return modelEndpoint + ", with structured output";
  }

  @Override
  public List<JsonNode> resultMessages(List<FunctionResult> answers) {
    String all =
        answers.stream()
            .map(answer -> "Result of " + answer.call().name() + ":\n" + answer.text())
            .collect(Collectors.joining("\n\n"));
    return List.of(FormatAdapter.message("user", all));
  }

  @Override
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException {
    ArrayNode messages = FormatAdapter.JSON.arrayNode();
    messages.add(FormatAdapter.message("system", StructuredPrompt.of(chatRequest)));
    messages.addAll(chatRequest.messages());
    ModelReply.Usage usage = ModelReply.Usage.NONE;
    for (int attempt = 1; ; attempt++) {
      ModelReply reply = ask(messages, modelListener);
      usage = usage.plus(reply.usage());
      if (reply.end() != ModelReply.End.DONE) {
        return unfinished(reply, usage, modelListener);
      }
      try {
        StructuredAnswer answer =
            StructuredAnswer.read(reply.text(), "call_" + ++calls, chatRequest.mayCall());
        if (!answer.text().isEmpty()) {
          modelListener.onText(answer.text());
        }
        JsonNode message = FormatAdapter.message("assistant", reply.text());
        return new ModelReply(message, answer.text(), answer.calls(), ModelReply.End.DONE, usage);
      } catch (StructuredAnswer.Malformed malformed) {
        if (attempt == MAX_ATTEMPTS) {
          throw new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR,
              "The model's answer was invalid " + attempt + " times: " + malformed.getMessage());
        }
        messages.add(FormatAdapter.message("assistant", reply.text()));
        messages.add(
            FormatAdapter.message("user", StructuredPrompt.retryMessage(malformed.getMessage())));
      }
    }
  }

  /** A reply that was cut off or refused is not parsed, and a retry would not help. */
  private static ModelReply unfinished(
      ModelReply reply, ModelReply.Usage usage, ModelListener modelListener) {
    String refusal = reply.message().path("refusal").asText("");
    if (!refusal.isEmpty()) {
      modelListener.onText(refusal);
    }
    JsonNode message = FormatAdapter.message("assistant", reply.text());
    return new ModelReply(message, refusal, List.of(), reply.end(), usage);
  }

  /** Falls back to the schema in the prompt if the server does not support response formats. */
  private ModelReply ask(ArrayNode messages, ModelListener modelListener)
      throws InterruptedException {
    if (supportsSchemas) {
      try {
        return send(messages, true, modelListener);
      } catch (BridgeException e) {
        if (!e.getMessage().contains("status 4") || !e.getMessage().contains("response_format")) {
          throw e;
        }
        supportsSchemas = false;
      }
    }
    return send(messages, false, modelListener);
  }

  private ModelReply send(ArrayNode messages, boolean withSchema, ModelListener modelListener)
      throws InterruptedException {
    ObjectNode request = FormatAdapter.JSON.objectNode().put("model", modelEndpoint.model());
    request.set("messages", messages.deepCopy());
    if (withSchema) {
      ObjectNode format = request.putObject("response_format").put("type", "json_schema");
      ObjectNode schema = format.putObject("json_schema").put("name", "answer");
      schema.put("strict", true).set("schema", StructuredPrompt.SCHEMA);
    }
    if (modelEndpoint.maxTokens() > 0) {
      request.put("max_completion_tokens", modelEndpoint.maxTokens());
    }
    OpenAiAnswer answer = new OpenAiAnswer(more -> {});
    post("/chat/completions", request, modelListener, answer::take);
    return answer.reply();
  }
}
