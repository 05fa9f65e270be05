package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * OpenAI Chat Completions. A tool message contains only text, so images and sounds follow in a user
 * message, after all tool messages as the API requires.
 */
final class OpenAiChat implements Format.Codec {

  @Override
  public SchemaDialect dialect(boolean strict) {
    return strict ? SchemaDialect.OPENAI_STRICT : SchemaDialect.OPENAI;
  }

  @Override
  public void define(JsonWriter out, Function function, Reduction parameters) {
    out.beginObject().member("type", "function").name("function");
    ToolDefinitions.function(out, function, "parameters", parameters);
    out.endObject();
  }

  /** Accepts a message, an object with {@code tool_calls}, or a complete response of the API. */
  @Override
  public Optional<List<JsonSlice>> items(Map<String, JsonSlice> body) {
    JsonSlice choices = body.get("choices");
    if (choices != null && choices.isArray()) {
      List<JsonSlice> all = JsonObjects.elements(choices);
      JsonSlice message = all.isEmpty() ? null : JsonObjects.members(all.get(0)).get("message");
      return message == null ? Optional.of(List.of()) : message(JsonObjects.members(message));
    }
    boolean hasText = JsonObjects.string(body.get("content")) != null;
    boolean hasCalls = !JsonSlice.NULL.equals(body.getOrDefault("tool_calls", JsonSlice.NULL));
    return hasText || hasCalls ? message(body) : Optional.empty();
  }

  /** The API requires a result for every tool call of a message, whatever its type. */
  @Override
  public boolean isToBeAnswered(Map<String, JsonSlice> item) {
    return true;
  }

  private static Optional<List<JsonSlice>> message(Map<String, JsonSlice> message) {
    JsonSlice calls = message.get("tool_calls");
    if (calls == null || calls.equals(JsonSlice.NULL)) {
      return Optional.of(List.of());
    }
    return calls.isArray() ? Optional.of(JsonObjects.elements(calls)) : Optional.empty();
  }

  @Override
  public boolean isCall(Map<String, JsonSlice> item) {
    return item.containsKey("function")
        && item.get("function").isObject()
        && !item.containsKey("functionCall");
  }

  @Override
  public FunctionCall call(Map<String, JsonSlice> item) {
    Map<String, JsonSlice> function =
        JsonObjects.members(item.getOrDefault("function", JsonSlice.NULL));
    return new FunctionCall(
        JsonObjects.string(item.get("id")),
        JsonObjects.string(function.get("name")),
        ToolDefinitions.argumentsText(function.get("arguments")));
  }

  @Override
  public void answer(JsonWriter out, List<FunctionResult> answers) {
    for (FunctionResult answer : answers) {
      out.beginObject()
          .member("role", "tool")
          .member("tool_call_id", answer.call().id())
          .member("content", answer.text())
          .endObject();
    }
    if (answers.stream().anyMatch(OpenAiChat::hasMedia)) {
      out.beginObject().member("role", "user").name("content").beginArray();
      answers.stream().filter(OpenAiChat::hasMedia).forEach(answer -> media(out, answer));
      out.endArray().endObject();
    }
  }

  private static void media(JsonWriter out, FunctionResult answer) {
    out.beginObject()
        .member("type", "text")
        .member("text", "From the tool call " + answer.call().id() + ":")
        .endObject();
    for (ContentBlock contentBlock : answer.blocks()) {
      if (contentBlock instanceof ContentBlock.Media media && isSupported(media)) {
        write(out, media);
      }
    }
  }

  private static void write(JsonWriter out, ContentBlock.Media media) {
    out.beginObject();
    if (media.isImage()) {
      out.member("type", "image_url").name("image_url").beginObject();
      out.member("url", media.dataUrl()).endObject();
    } else {
      out.member("type", "input_audio").name("input_audio").beginObject();
      out.member("data", media.data()).member("format", audioFormat(media)).endObject();
    }
    out.endObject();
  }

  private static boolean hasMedia(FunctionResult answer) {
    return answer.blocks().stream()
        .anyMatch(
            contentBlock -> contentBlock instanceof ContentBlock.Media media && isSupported(media));
  }

  private static boolean isSupported(ContentBlock.Media media) {
    return media.isImage() || audioFormat(media) != null;
  }

  /** The audio format, one of the two that the API supports; null for others. */
  private static String audioFormat(ContentBlock.Media media) {
    return switch (media.type()) {
      case "audio/wav", "audio/x-wav", "audio/wave" -> "wav";
      case "audio/mp3", "audio/mpeg" -> "mp3";
      default -> null;
    };
  }
}
