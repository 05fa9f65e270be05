package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;

/** What a model answered that was asked for JSON: words for the user, or one call. */
record StructuredAnswer(String text, List<FunctionCall> calls) {

  /** It is not what was asked for; says why, in words for the model. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String why) {
      super(why, null, false, false);
    }
  }

  /**
   * @param callId for the call, if there is one
   */
  static StructuredAnswer read(String said, String callId, boolean mayCall) throws Malformed {
    JsonNode answer = object(said);
    JsonNode call = answer.path("callTool");
    JsonNode toUser = answer.path("toUser");
    boolean hasCall = call.isObject();
    boolean hasWords = toUser.isTextual() && !toUser.textValue().isBlank();
    if (hasCall && !mayCall) {
      throw new Malformed("no tool can be called any more, so callTool must be null");
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
      throw new Malformed("the arguments of callTool are no JSON object");
    }
    return new FunctionCall(id, name, JsonSlice.of(arguments.toString()));
  }

  /** Some put words or a fence around it, whatever they are told. */
  private static JsonNode object(String said) throws Malformed {
    int from = said.indexOf('{');
    int to = said.lastIndexOf('}');
    JsonNode answer = from < 0 || to < from ? null : tree(said.substring(from, to + 1));
    if (answer == null || !answer.isObject()) {
      throw new Malformed("it is no JSON object");
    }
    return answer;
  }

  private static JsonNode tree(String text) throws Malformed {
    try {
      return FormatAdapter.read(text);
    } catch (JsonProcessingException e) {
      throw new Malformed("it is no valid JSON: " + e.getOriginalMessage());
    }
  }
}
