package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * OpenAI Chat Completions. A tool message contains only text, so images and sounds follow in a user
 * message, after all tool messages as the API requires.
 */
final class OpenAiChat implements Format.Codec {
  @Override
  public void define(JsonWriter out, Function function, Reduction parameters) {
    out.beginObject().member("type", "function").name("function");
    out.beginObject();
    ToolDefinitions.members(out, function, "parameters", parameters);
    if (parameters.isStrict()) {
      out.member("strict", true);
    }
    out.endObject().endObject();
  }

  /** Accepts a message, an object with {@code tool_calls}, or a complete response of the API. */
  @Override
  public Optional<List<JsonSlice>> items(Map<String, JsonSlice> body) {
    JsonSlice choices = body.get("choices");
    if (choices != null && choices.isArray()) {
      return ToolDefinitions.itemsOfFirst(choices, "message", "tool_calls");
    }
    JsonSlice calls = body.getOrDefault("tool_calls", JsonSlice.NULL);
    boolean hasText = JsonObjects.string(body.get("content")) != null;
    return hasText || !calls.equals(JsonSlice.NULL)
        ? ToolDefinitions.itemsOrNone(calls)
        : Optional.empty();
  }

  /** The API requires a result for every tool call of a message, whatever its type. */
  @Override
  public boolean isToBeAnswered(Map<String, JsonSlice> item) {
    return true;
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
    if (answers.stream().anyMatch(answer -> media(answer).findAny().isPresent())) {
      out.beginObject().member("role", "user").name("content").beginArray();
      answers.forEach(answer -> write(out, answer.call(), media(answer).toList()));
      out.endArray().endObject();
    }
  }

  private static void write(JsonWriter out, FunctionCall call, List<ContentBlock.Media> all) {
    if (!all.isEmpty()) {
      out.beginObject().member("type", "text");
      out.member("text", "From the tool call " + call.id() + ":").endObject();
    }
    for (ContentBlock.Media media : all) {
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
  }

  /** The images and sounds that the API supports. */
  private static Stream<ContentBlock.Media> media(FunctionResult answer) {
    return answer.media().filter(media -> media.isImage() || audioFormat(media) != null);
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
