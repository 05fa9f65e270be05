package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;

/** A parsed answer of a model with JSON output: text for the user, or one call. */
record StructuredAnswer(String text, List<FunctionCall> calls) {

  /** The answer does not match the schema. The message is for the model. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String why) {
      super(why, null, false, false);
    }
  }

  /**
   * @param callId the id for the call, if there is one
   */
  static StructuredAnswer read(String text, String callId, boolean mayCall) throws Malformed {
    JsonNode answer = object(text);
    JsonNode call = answer.path("callTool");
    JsonNode toUser = answer.path("toUser");
    boolean hasCall = call.isObject();
    boolean hasWords = toUser.isTextual() && !toUser.textValue().isBlank();
    if (hasCall && !mayCall) {
      throw new Malformed("tools can no longer be called, so callTool must be null");
    }
    if (hasCall == hasWords) {
      throw new Malformed("exactly one of callTool and toUser must be given");
    }
    return hasWords
        ? new StructuredAnswer(toUser.textValue(), List.of())
        : new StructuredAnswer("", List.of(call(call, callId)));
  }

  private static FunctionCall call(JsonNode call, String id) throws Malformed {
    String name = call.path("name").asText("");
    if (name.isBlank()) {
      throw new Malformed("callTool has no name");
    }
    JsonNode arguments = call.path("arguments");
    if (arguments.isTextual()) {
      String text = arguments.textValue();
      arguments = text.isBlank() ? FormatAdapter.JSON.objectNode() : tree(text);
    }
    if (arguments.isMissingNode() || arguments.isNull()) {
      arguments = FormatAdapter.JSON.objectNode();
    }
    if (!arguments.isObject()) {
      throw new Malformed("the arguments of callTool are not a JSON object");
    }
    return new FunctionCall(id, name, JsonSlice.of(arguments.toString()));
  }

  /** Some models add text or a code fence around the JSON in spite of the prompt. */
  private static JsonNode object(String text) throws Malformed {
    int from = text.indexOf('{');
    int to = text.lastIndexOf('}');
    JsonNode answer = from < 0 || to < from ? null : tree(text.substring(from, to + 1));
    if (answer == null || !answer.isObject()) {
      throw new Malformed("it is not a JSON object");
    }
    return answer;
  }

  private static JsonNode tree(String text) throws Malformed {
    try {
      return Json.exactTree(text);
    } catch (JsonProcessingException e) {
      throw new Malformed("it is not valid JSON: " + e.getOriginalMessage());
    }
  }
}
