package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says what a model said before: the transcript of a conversation, JSON Lines with {@code user} and
 * {@code model} members. What it calls is called; <code>{{call_1/path}}</code> stands for what is
 * there in the result of that call.
 */
public final class ReplayModel implements ChatModel {
  private static final Pattern REFERENCE = Pattern.compile("\\{\\{(\\w+)(/[\\w/]+)}}");

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
      JsonNode entry = FormatAdapter.read(text);
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
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener) {
    if (next == said.size()) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "The recorded conversation ends here");
    }
    OpenAiAnswer answer = new OpenAiAnswer(modelListener);
    JsonNode message = filled(said.get(next++), chatRequest);
    answer.take(
        FormatAdapter.JSON
            .objectNode()
            .set("choices", FormatAdapter.JSON.arrayNode().add(choice(message))));
    return answer.reply();
  }

  /** With what the tools answer now, where the recording refers to it. */
  private static JsonNode filled(JsonNode message, ChatRequest chatRequest) {
    String text = message.toString();
    Matcher reference = REFERENCE.matcher(text);
    String filled =
        reference.replaceAll(
            match -> {
              String known = found(match.group(1), match.group(2), chatRequest);
              String quoted = FormatAdapter.JSON.textNode(known).toString();
              return Matcher.quoteReplacement(quoted.substring(1, quoted.length() - 1));
            });
    return FormatAdapter.tree(JsonSlice.of(filled));
  }

  private static String found(String call, String pointer, ChatRequest chatRequest) {
    for (JsonNode message : chatRequest.messages()) {
      if (message.path("tool_call_id").asText().equals(call)) {
        String content = message.path("content").asText();
        int from = content.indexOf('{');
        int to = content.lastIndexOf('}');
        if (from >= 0 && to > from) {
          return value(content.substring(from, to + 1), pointer);
        }
      }
    }
    return "?";
  }

  private static String value(String json, String pointer) {
    try {
      return Json.tree(json).at(pointer).asText("?").lines().findFirst().orElse("?");
    } catch (JsonProcessingException e) {
      return "?";
    }
  }

  private static JsonNode choice(JsonNode message) {
    return FormatAdapter.JSON.objectNode().put("finish_reason", "stop").set("message", message);
  }
}
