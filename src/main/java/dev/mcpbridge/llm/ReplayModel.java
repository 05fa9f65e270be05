package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionAnswer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Says what a model said before: the transcript of a conversation, JSON Lines with {@code user} and
 * {@code model} members. What it calls is called.
 */
public final class ReplayModel implements ChatModel {
  private final List<String> questions = new ArrayList<>();
  private final List<JsonNode> said = new ArrayList<>();
  private int next;

  /**
   * @throws BridgeException MALFORMED_REQUEST, saying which line is none
   */
  public ReplayModel(List<String> transcript) {
    for (int i = 0; i < transcript.size(); i++) {
      if (!transcript.get(i).isBlank()) {
        read(transcript.get(i), i + 1);
      }
    }
    if (said.isEmpty()) {
      throw wrong("it holds no answer of a model");
    }
  }

  private void read(String text, int line) {
    try {
      JsonNode entry = Json.mapper().readTree(text);
      if (entry.path("user").isTextual()) {
        questions.add(entry.get("user").textValue());
      } else if (entry.path("model").isObject()) {
        said.add(entry.get("model"));
      } else if (!entry.isObject()) {
        throw wrong("line " + line + " is no object");
      }
    } catch (JsonProcessingException e) {
      throw wrong("line " + line + " is no JSON: " + e.getOriginalMessage());
    }
  }

  private static BridgeException wrong(String why) {
    return new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "The transcript cannot be replayed: " + why);
  }

  /** What was asked when it was recorded, as often as this has been asked; empty behind the end. */
  public Optional<String> question(int index) {
    return index < questions.size() ? Optional.of(questions.get(index)) : Optional.empty();
  }

  @Override
  public String name() {
    return "a recorded conversation";
  }

  @Override
  public Format format() {
    return Format.OPENAI_CHAT;
  }

  @Override
  public JsonNode user(String text) {
    return Native.message("user", text);
  }

  @Override
  public List<JsonNode> results(List<FunctionAnswer> answers) {
    return Native.results(format(), answers);
  }

  @Override
  public Reply reply(Conversation conversation, Heard heard) {
    if (next == said.size()) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "The recorded conversation ends here");
    }
    OpenAiAnswer answer = new OpenAiAnswer(heard);
    JsonNode message = said.get(next++);
    answer.take(
        Native.JSON.objectNode().set("choices", Native.JSON.arrayNode().add(choice(message))));
    return answer.reply();
  }

  private static JsonNode choice(JsonNode message) {
    return Native.JSON.objectNode().put("finish_reason", "stop").set("message", message);
  }
}
