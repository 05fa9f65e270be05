package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import java.util.ArrayList;
import java.util.List;

/**
 * Assembles a reply of Chat Completions from its chunks or from a complete response. The calls of a
 * reply that was cut off or refused are dropped, since they may be incomplete. Not thread-safe.
 */
final class OpenAiAnswer {
  private final ChatModel.ModelListener modelListener;
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder refusal = new StringBuilder();
  private final List<ObjectNode> calls = new ArrayList<>();
  private final List<Integer> indexes = new ArrayList<>();
  private ModelReply.Usage usage = ModelReply.Usage.NONE;
  private String finish;
  private boolean isWhole;

  OpenAiAnswer(ChatModel.ModelListener modelListener) {
    this.modelListener = modelListener;
  }

  void take(JsonNode chunk) {
    if (chunk.path("error").isObject() || chunk.path("error").isTextual()) {
      throw FormatAdapter.providerError(chunk.get("error"));
    }
    JsonNode tokens = chunk.path("usage");
    if (tokens.isObject()) {
      usage =
          new ModelReply.Usage(
              tokens.path("prompt_tokens").asLong(), tokens.path("completion_tokens").asLong());
    }
    JsonNode choice = chunk.path("choices").path(0);
    finish = choice.path("finish_reason").asText(finish);
    isWhole |= choice.has("message");
    JsonNode message = choice.path(isWhole ? "message" : "delta");
    words(message.path("content").asText(""), text);
    words(message.path("refusal").asText(""), refusal);
    message.path("tool_calls").forEach(this::call);
  }

  private void words(String more, StringBuilder all) {
    if (!more.isEmpty()) {
      all.append(more);
      modelListener.onText(more);
    }
  }

  /** Adds a fragment of a call. Its index or a new id identifies the call. */
  private void call(JsonNode fragment) {
    ObjectNode call = callOf(fragment);
    ObjectNode function = (ObjectNode) call.get("function");
    append(function, "name", fragment.path("function").path("name"));
    JsonNode arguments = fragment.path("function").path("arguments");
    if (arguments.isObject()) {
      function.put("arguments", arguments.toString());
    } else {
      append(function, "arguments", arguments);
    }
  }

  private ObjectNode callOf(JsonNode fragment) {
    int last = calls.size() - 1;
    String id = fragment.path("id").asText("");
    boolean isNew = last < 0 || !id.isEmpty();
    int index = fragment.path("index").asInt(isNew ? calls.size() : indexes.get(last));
    int at = indexes.lastIndexOf(index);
    if (at >= 0 && (id.isEmpty() || id.equals(calls.get(at).get("id").textValue()))) {
      return calls.get(at);
    }
    ObjectNode call = FormatAdapter.JSON.objectNode();
    call.put("id", id.isEmpty() ? "call_" + calls.size() : id).put("type", "function");
    call.putObject("function").put("name", "").put("arguments", "");
    calls.add(call);
    indexes.add(index);
    return call;
  }

  private static void append(ObjectNode function, String name, JsonNode fragment) {
    function.put(name, function.get(name).textValue() + fragment.asText(""));
  }

  ModelReply reply() {
    if (finish == null && !isWhole) {
      throw FormatAdapter.incompleteAnswer(
          !text.isEmpty() || !refusal.isEmpty() || !calls.isEmpty());
    }
    if (end() != ModelReply.End.DONE) {
      calls.clear();
    }
    ObjectNode message = FormatAdapter.JSON.objectNode().put("role", "assistant");
    if (text.isEmpty() && !calls.isEmpty()) {
      message.putNull("content");
    } else {
      message.put("content", text.toString());
    }
    if (!refusal.isEmpty()) {
      message.put("refusal", refusal.toString());
    }
    if (!calls.isEmpty()) {
      ArrayNode all = message.putArray("tool_calls");
      calls.forEach(all::add);
    }
    return new ModelReply(
        message,
        text.isEmpty() ? refusal.toString() : text.toString(),
        calls.isEmpty() ? List.of() : FormatAdapter.calls(Format.OPENAI_CHAT, message),
        end(),
        usage);
  }

  private ModelReply.End end() {
    if (!refusal.isEmpty() || "content_filter".equals(finish)) {
      return ModelReply.End.REFUSED;
    }
    return "length".equals(finish) ? ModelReply.End.CUT : ModelReply.End.DONE;
  }
}
