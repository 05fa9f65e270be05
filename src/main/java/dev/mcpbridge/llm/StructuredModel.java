package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionAnswer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A model that knows of no tools: it is asked for JSON by a schema, with a call in it or words for
 * the user. Chat Completions is all that it needs. An answer that is not what was asked for is
 * asked for again, a few times.
 */
final class StructuredModel implements ChatModel {
  private static final int MAX_ATTEMPTS = 4;

  private final ModelEndpoint modelEndpoint;
  private final ModelApi api;
  private boolean knowsSchemas = true;
  private int calls;

  StructuredModel(ModelEndpoint modelEndpoint) {
    this.modelEndpoint = modelEndpoint;
    this.api = new ModelApi(OpenAiModel.authorization(modelEndpoint), modelEndpoint);
  }

  @Override
  public String name() {
    return modelEndpoint + ", by a schema";
  }

  @Override
  public Format format() {
    return Format.OPENAI_CHAT;
  }

  @Override
  public List<JsonNode> results(List<FunctionAnswer> answers) {
    String all =
        answers.stream()
            .map(answer -> "What " + answer.call().name() + " answered:\n" + answer.text())
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
      ModelReply said = ask(messages, modelListener);
      usage = usage.plus(said.usage());
      if (said.end() != ModelReply.End.DONE) {
        return unfinished(said, usage, modelListener);
      }
      try {
        StructuredAnswer answer =
            StructuredAnswer.read(said.text(), "call_" + ++calls, chatRequest.mayCall());
        if (!answer.text().isEmpty()) {
          modelListener.words(answer.text());
        }
        JsonNode message = FormatAdapter.message("assistant", said.text());
        return new ModelReply(message, answer.text(), answer.calls(), ModelReply.End.DONE, usage);
      } catch (StructuredAnswer.Malformed malformed) {
        if (attempt == MAX_ATTEMPTS) {
          throw new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR,
              "The model did not answer as it was asked to, "
                  + attempt
                  + " times: "
                  + malformed.getMessage());
        }
        messages.add(FormatAdapter.message("assistant", said.text()));
        messages.add(FormatAdapter.message("user", StructuredPrompt.again(malformed.getMessage())));
      }
    }
  }

  /** Cut or refused: what there is of it is no JSON, and would not be the next time. */
  private static ModelReply unfinished(
      ModelReply said, ModelReply.Usage usage, ModelListener modelListener) {
    String refusal = said.message().path("refusal").asText("");
    if (!refusal.isEmpty()) {
      modelListener.words(refusal);
    }
    JsonNode message = FormatAdapter.message("assistant", said.text());
    return new ModelReply(message, refusal, List.of(), said.end(), usage);
  }

  /** Some servers do not know schemas; the prompt has it, too. */
  private ModelReply ask(ArrayNode messages, ModelListener modelListener)
      throws InterruptedException {
    if (knowsSchemas) {
      try {
        return post(messages, true, modelListener);
      } catch (BridgeException e) {
        if (!e.getMessage().contains("status 4") || !e.getMessage().contains("response_format")) {
          throw e;
        }
        knowsSchemas = false;
      }
    }
    return post(messages, false, modelListener);
  }

  private ModelReply post(ArrayNode messages, boolean withSchema, ModelListener modelListener)
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
    api.post(modelEndpoint.at("/chat/completions"), request, modelListener, answer::take);
    return answer.reply();
  }
}
