package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Anthropic Messages: all results of a turn are sent in one user message. */
final class Anthropic implements Format.Codec {
  @Override
  public void define(JsonWriter out, Function function, Reduction parameters) {
    out.beginObject();
    ToolDefinitions.members(out, function, "input_schema", parameters);
    out.endObject();
  }

  @Override
  public Optional<List<JsonSlice>> items(Map<String, JsonSlice> body) {
    return ToolDefinitions.elements(body.get("content"));
  }

  @Override
  public boolean isCall(Map<String, JsonSlice> item) {
    return "tool_use".equals(JsonObjects.string(item.get("type")));
  }

  @Override
  public FunctionCall call(Map<String, JsonSlice> item) {
    return new FunctionCall(
        JsonObjects.string(item.get("id")),
        JsonObjects.string(item.get("name")),
        ToolDefinitions.orEmpty(item.get("input")));
  }

  @Override
  public void answer(JsonWriter out, List<FunctionResult> answers) {
    out.beginObject().member("role", "user").name("content").beginArray();
    for (FunctionResult answer : answers) {
      out.beginObject()
          .member("type", "tool_result")
          .member("tool_use_id", answer.call().id())
          .name("content")
          .beginArray();
      answer.blocks().forEach(contentBlock -> part(out, contentBlock));
      out.endArray();
      if (answer.isError()) {
        out.member("is_error", true);
      }
      out.endObject();
    }
    out.endArray().endObject();
  }

  private static void part(JsonWriter out, ContentBlock contentBlock) {
    out.beginObject();
    if (contentBlock instanceof ContentBlock.Media media && media.isImage()) {
      source(out.member("type", "image"), media);
    } else if (contentBlock instanceof ContentBlock.Media media
        && media.type().equals("application/pdf")) {
      source(out.member("type", "document"), media);
    } else {
      String text = contentBlock.words();
      out.member("type", "text").member("text", text.isEmpty() ? "(no text)" : text);
    }
    out.endObject();
  }

  private static void source(JsonWriter out, ContentBlock.Media media) {
    out.name("source")
        .beginObject()
        .member("type", "base64")
        .member("media_type", media.type())
        .member("data", media.data())
        .endObject();
  }
}
