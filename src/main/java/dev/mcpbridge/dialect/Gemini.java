package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Gemini generateContent: results are parts of one content, matched by id or by order. */
final class Gemini implements Format.Codec {
  @Override
  public void define(JsonWriter out, Function function, Reduction parameters) {
    out.beginObject().member("name", function.name());
    out.member("description", function.description());
    if (!parameters.schema().isEmpty()) {
      out.member("parameters", Json.slice(parameters.schema()));
    }
    out.endObject();
  }

  @Override
  public JsonSlice list(List<JsonSlice> definitions) {
    JsonWriter out = new JsonWriter(4096).beginArray();
    if (!definitions.isEmpty()) {
      out.beginObject().name("functionDeclarations").beginArray();
      definitions.forEach(out::value);
      out.endArray().endObject();
    }
    return out.endArray().toSlice();
  }

  /** Accepts a content or a complete response of the API. */
  @Override
  public Optional<List<JsonSlice>> items(Map<String, JsonSlice> body) {
    JsonSlice candidates = body.get("candidates");
    if (candidates != null && candidates.isArray()) {
      return ToolDefinitions.itemsOfFirst(candidates, "content", "parts");
    }
    return body.containsKey("parts")
        ? ToolDefinitions.itemsOrNone(body.get("parts"))
        : Optional.empty();
  }

  @Override
  public boolean isCall(Map<String, JsonSlice> item) {
    return item.containsKey("functionCall") && item.get("functionCall").isObject();
  }

  @Override
  public FunctionCall call(Map<String, JsonSlice> item) {
    Map<String, JsonSlice> call = JsonObjects.members(item.get("functionCall"));
    return new FunctionCall(
        JsonObjects.string(call.get("id")),
        JsonObjects.string(call.get("name")),
        ToolDefinitions.orEmpty(call.get("args")));
  }

  @Override
  public void answer(JsonWriter out, List<FunctionResult> answers) {
    out.beginObject().member("role", "user").name("parts").beginArray();
    for (FunctionResult answer : answers) {
      out.beginObject().name("functionResponse").beginObject();
      if (answer.call().id() != null) {
        out.member("id", answer.call().id());
      }
      out.member("name", answer.call().name() == null ? "" : answer.call().name());
      out.name("response").beginObject();
      out.member(answer.isError() ? "error" : "output", answer.text()).endObject();
      media(out, answer);
      out.endObject().endObject();
    }
    out.endArray().endObject();
  }

  /** Multimodal function responses: binary content is sent beside the response. */
  private static void media(JsonWriter out, FunctionResult answer) {
    List<ContentBlock.Media> all = answer.media().toList();
    if (!all.isEmpty()) {
      out.name("parts").beginArray();
      for (ContentBlock.Media media : all) {
        out.beginObject().name("inlineData").beginObject();
        out.member("mimeType", media.type()).member("data", media.data());
        out.endObject().endObject();
      }
      out.endArray();
    }
  }
}
