package dev.mcpbridge.dialect;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** OpenAI Responses: calls are items of the output, results are items of the input. */
final class OpenAiResponses implements Format.Codec {
  @Override
  public void define(JsonWriter out, Function function, Reduction parameters) {
    out.beginObject().member("type", "function");
    ToolDefinitions.members(out, function, "parameters", parameters);
    out.member("strict", parameters.isStrict()).endObject();
  }

  @Override
  public Optional<List<JsonSlice>> items(Map<String, JsonSlice> body) {
    return ToolDefinitions.elements(body.get("output"));
  }

  @Override
  public boolean isCall(Map<String, JsonSlice> item) {
    return "function_call".equals(JsonObjects.string(item.get("type")));
  }

  @Override
  public FunctionCall call(Map<String, JsonSlice> item) {
    return new FunctionCall(
        JsonObjects.string(item.get("call_id")),
        JsonObjects.string(item.get("name")),
        ToolDefinitions.argumentsText(item.get("arguments")));
  }

  @Override
  public void answer(JsonWriter out, List<FunctionResult> answers) {
    for (FunctionResult answer : answers) {
      out.beginObject()
          .member("type", "function_call_output")
          .member("call_id", answer.call().id());
      if (answer.blocks().stream().allMatch(ContentBlock.Text.class::isInstance)) {
        out.member("output", answer.text());
      } else {
        out.name("output").beginArray();
        answer.blocks().forEach(contentBlock -> part(out, contentBlock));
        out.endArray();
      }
      out.endObject();
    }
  }

  private static void part(JsonWriter out, ContentBlock contentBlock) {
    out.beginObject();
    if (contentBlock instanceof ContentBlock.Media media && media.isImage()) {
      out.member("type", "input_image").member("image_url", media.dataUrl());
    } else if (contentBlock instanceof ContentBlock.Media media
        && media.type().equals("application/pdf")) {
      out.member("type", "input_file")
          .member("filename", "result.pdf")
          .member("file_data", media.dataUrl());
    } else {
      out.member("type", "input_text").member("text", contentBlock.words());
    }
    out.endObject();
  }
}
