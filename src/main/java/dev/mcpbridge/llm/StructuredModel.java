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

  private final Endpoint endpoint;
  private final ModelApi api;
  private boolean knowsSchemas = true;
  private int calls;

  StructuredModel(Endpoint endpoint) {
    this.endpoint = endpoint;
    this.api = new ModelApi(OpenAiModel.authorization(endpoint), endpoint);
  }

  @Override
  public String name() {
    return endpoint + ", by a schema";
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
    return List.of(Native.message("user", all));
  }

  @Override
  public Reply reply(Conversation conversation, Heard heard) throws InterruptedException {
    ArrayNode messages = Native.JSON.arrayNode();
    messages.add(Native.message("system", StructuredPrompt.of(conversation)));
    messages.addAll(conversation.messages());
    Reply.Usage usage = Reply.Usage.NONE;
    for (int attempt = 1; ; attempt++) {
      Reply said = ask(messages, heard);
      usage = usage.plus(said.usage());
      if (said.end() != Reply.End.DONE) {
        return unfinished(said, usage, heard);
      }
      try {
        StructuredAnswer answer =
            StructuredAnswer.read(said.text(), "call_" + ++calls, conversation.mayCall());
        if (!answer.text().isEmpty()) {
          heard.words(answer.text());
        }
        JsonNode message = Native.message("assistant", said.text());
        return new Reply(message, answer.text(), answer.calls(), Reply.End.DONE, usage);
      } catch (StructuredAnswer.Malformed malformed) {
        if (attempt == MAX_ATTEMPTS) {
          throw new BridgeException(
              ErrorCode.UPSTREAM_PROTOCOL_ERROR,
              "The model did not answer as it was asked to, "
                  + attempt
                  + " times: "
                  + malformed.getMessage());
        }
        messages.add(Native.message("assistant", said.text()));
        messages.add(Native.message("user", StructuredPrompt.again(malformed.getMessage())));
      }
    }
  }

  /** Cut or refused: what there is of it is no JSON, and would not be the next time. */
  private static Reply unfinished(Reply said, Reply.Usage usage, Heard heard) {
    String refusal = said.message().path("refusal").asText("");
    if (!refusal.isEmpty()) {
      heard.words(refusal);
    }
    JsonNode message = Native.message("assistant", said.text());
    return new Reply(message, refusal, List.of(), said.end(), usage);
  }

  /** Some servers do not know schemas; the prompt has it, too. */
  private Reply ask(ArrayNode messages, Heard heard) throws InterruptedException {
    if (knowsSchemas) {
      try {
        return post(messages, true, heard);
      } catch (BridgeException e) {
        if (!e.getMessage().contains("status 4") || !e.getMessage().contains("response_format")) {
          throw e;
        }
        knowsSchemas = false;
      }
    }
    return post(messages, false, heard);
  }

  private Reply post(ArrayNode messages, boolean withSchema, Heard heard)
      throws InterruptedException {
    ObjectNode request = Native.JSON.objectNode().put("model", endpoint.model());
    request.set("messages", messages.deepCopy());
    if (withSchema) {
      ObjectNode format = request.putObject("response_format").put("type", "json_schema");
      ObjectNode schema = format.putObject("json_schema").put("name", "answer");
      schema.put("strict", true).set("schema", StructuredPrompt.SCHEMA);
    }
    if (endpoint.maxTokens() > 0) {
      request.put("max_completion_tokens", endpoint.maxTokens());
    }
    OpenAiAnswer answer = new OpenAiAnswer(more -> {});
    api.post(endpoint.at("/chat/completions"), request, heard, answer::take);
    return answer.reply();
  }
}
