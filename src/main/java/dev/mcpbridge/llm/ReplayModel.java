package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replays the replies of a recorded conversation: JSON Lines with {@code user} and {@code model}
 * members. Its calls are really made. <code>{{call_1/path}}</code> is replaced by the value at that
 * JSON pointer in the result of the call.
 */
public final class ReplayModel implements ChatModel {
  private static final Pattern REFERENCE = Pattern.compile("\\{\\{(\\w+)(/[\\w/]+)}}");

  private final List<String> questions = new ArrayList<>();
  private final List<JsonNode> replies = new ArrayList<>();

  /**
   * @throws BridgeException MALFORMED_REQUEST, with the number of the invalid line
   */
  public ReplayModel(List<String> transcript) {
    for (int i = 0; i < transcript.size(); i++) {
      if (!transcript.get(i).isBlank()) {
        read(transcript.get(i), i + 1);
      }
    }
    if (replies.isEmpty()) {
      throw invalid("it contains no reply of a model");
    }
  }

  /** The demonstration that comes with the program. */
  public static ReplayModel demonstration() {
    try (InputStream in = ReplayModel.class.getResourceAsStream("demonstration.jsonl")) {
      return new ReplayModel(
          new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(String text, int line) {
    try {
      JsonNode entry = Json.exactTree(text);
      if (entry.path("user").isTextual()) {
        questions.add(entry.get("user").textValue());
      } else if (entry.path("model").isObject()) {
        replies.add(entry.get("model"));
      } else if (!entry.isObject()) {
        throw invalid("line " + line + " is not an object");
      }
    } catch (JsonProcessingException e) {
      throw invalid("line " + line + " is not JSON: " + e.getOriginalMessage());
    }
  }

  private static BridgeException invalid(String why) {
    return new BridgeException(
        ErrorCode.MALFORMED_REQUEST, "The transcript cannot be replayed: " + why);
  }

  /** All recorded questions. */
  public List<String> questions() {
    return List.copyOf(questions);
  }

  /** The recorded question with this index, from 0; empty after the last one. */
  public Optional<String> question(int index) {
    return index < questions.size() ? Optional.of(questions.get(index)) : Optional.empty();
  }

  @Override
  public String name() {
    return "a recorded conversation";
  }

  @Override
  public String model() {
    return "recorded";
  }

  @Override
  public Format format() {
    return Format.OPENAI_CHAT;
  }

  @Override
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener) {
    int next =
        (int)
            chatRequest.messages().stream()
                .filter(message -> message.path("role").asText().equals("assistant"))
                .count();
    if (next >= replies.size()) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "The recorded conversation ends here");
    }
    OpenAiAnswer answer = new OpenAiAnswer(modelListener);
    ObjectNode response = FormatAdapter.JSON.objectNode();
    response
        .putArray("choices")
        .addObject()
        .put("finish_reason", "stop")
        .set("message", resolve(replies.get(next), chatRequest));
    answer.take(response);
    return answer.reply();
  }

  /** Replaces references in a recorded message by values of the current results. */
  private static JsonNode resolve(JsonNode message, ChatRequest chatRequest) {
    String text = message.toString();
    Matcher reference = REFERENCE.matcher(text);
    String resolved =
        reference.replaceAll(
            match -> {
              String value = referenced(match.group(1), match.group(2), chatRequest);
              String quoted = FormatAdapter.JSON.textNode(value).toString();
              return Matcher.quoteReplacement(quoted.substring(1, quoted.length() - 1));
            });
    return FormatAdapter.tree(JsonSlice.of(resolved));
  }

  private static String referenced(String call, String pointer, ChatRequest chatRequest) {
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
}
