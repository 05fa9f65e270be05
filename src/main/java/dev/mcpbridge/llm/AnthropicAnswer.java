package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.util.Map;
import java.util.TreeMap;

/**
 * Assembles a reply of the Messages API from its events or from a complete message. Blocks are kept
 * unchanged, since the API requires its thinking blocks back with their signatures. Of a reply that
 * was cut off or refused, only the text is kept, since calls and thinking may be incomplete. Not
 * thread-safe.
 */
final class AnthropicAnswer {
  private final ChatModel.ModelListener modelListener;
  private final Map<Integer, ObjectNode> blocks = new TreeMap<>();
  private final Map<Integer, StringBuilder> inputs = new TreeMap<>();
  private final StringBuilder text = new StringBuilder();
  private long input;
  private long output;
  private String stop = "";

  AnthropicAnswer(ChatModel.ModelListener modelListener) {
    this.modelListener = modelListener;
  }

  void take(JsonNode event) {
    switch (event.path("type").asText()) {
      case "message" -> complete(event);
      case "message_start" -> countTokens(event.path("message").path("usage"));
      case "content_block_start" -> begin(event.path("index").asInt(), event.path("content_block"));
      case "content_block_delta" -> applyDelta(event.path("index").asInt(), event.path("delta"));
      case "message_delta" -> {
        stop = event.path("delta").path("stop_reason").asText(stop);
        countTokens(event.path("usage"));
      }
      case "error" -> throw FormatAdapter.providerError(event.path("error"));
      default -> {
        // pings, ends and new event types: the API documentation allows ignoring them
      }
    }
  }

  private void complete(JsonNode message) {
    JsonNode content = message.path("content");
    for (int i = 0; i < content.size(); i++) {
      begin(i, content.get(i));
    }
    stop = message.path("stop_reason").asText("");
    countTokens(message.path("usage"));
  }

  private void countTokens(JsonNode usage) {
    long cached =
        usage.path("cache_read_input_tokens").asLong()
            + usage.path("cache_creation_input_tokens").asLong();
    input = Math.max(input, usage.path("input_tokens").asLong() + cached);
    output = Math.max(output, usage.path("output_tokens").asLong());
  }

  private void begin(int index, JsonNode block) {
    if (block instanceof ObjectNode object) {
      blocks.put(index, object.deepCopy());
      words(isText(object) ? object.path("text").asText("") : "");
    }
  }

  private void applyDelta(int index, JsonNode delta) {
    ObjectNode block = blocks.computeIfAbsent(index, missing -> FormatAdapter.JSON.objectNode());
    switch (delta.path("type").asText()) {
      case "text_delta" -> {
        append(block, "text", delta);
        words(delta.path("text").asText());
      }
      case "thinking_delta" -> append(block, "thinking", delta);
      case "signature_delta" -> append(block, "signature", delta);
      case "input_json_delta" ->
          inputs
              .computeIfAbsent(index, i -> new StringBuilder())
              .append(delta.path("partial_json").asText());
      default -> {
        // unknown delta type
      }
    }
  }

  private static void append(ObjectNode block, String name, JsonNode delta) {
    block.put(name, block.path(name).asText("") + delta.path(name).asText(""));
  }

  private void words(String more) {
    if (!more.isEmpty()) {
      text.append(more);
      modelListener.onText(more);
    }
  }

  ModelReply reply() {
    if (stop.isEmpty()) {
      throw FormatAdapter.incompleteAnswer(!blocks.isEmpty());
    }
    boolean isDone = end() == ModelReply.End.DONE;
    blocks.values().removeIf(block -> isEmptyText(block) || !isDone && !isText(block));
    blocks.forEach(
        (index, block) -> {
          if (inputs.containsKey(index)) {
            block.set("input", input(inputs.get(index).toString()));
          }
        });
    ObjectNode message = FormatAdapter.JSON.objectNode().put("role", "assistant");
    ArrayNode content = message.putArray("content");
    blocks.values().forEach(content::add);
    if (content.isEmpty()) {
      content.addObject().put("type", "text").put("text", "(no answer)");
    }
    return new ModelReply(
        message,
        text.toString(),
        FormatAdapter.calls(Format.ANTHROPIC, message),
        end(),
        new ModelReply.Usage(input, output));
  }

  private static boolean isText(JsonNode block) {
    return block.path("type").asText().equals("text");
  }

  /** The API sends empty text blocks but rejects them in requests. */
  private static boolean isEmptyText(JsonNode block) {
    return isText(block) && block.path("text").asText("").isEmpty();
  }

  private static JsonNode input(String json) {
    try {
      JsonNode arguments = Json.exactTree(json.isBlank() ? "{}" : json);
      return arguments.isObject() ? arguments : FormatAdapter.JSON.objectNode();
    } catch (JsonProcessingException e) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The model's answer ended within a call");
    }
  }

  private ModelReply.End end() {
    return switch (stop) {
      case "max_tokens", "model_context_window_exceeded" -> ModelReply.End.CUT;
      case "refusal" -> ModelReply.End.REFUSED;
      default -> ModelReply.End.DONE;
    };
  }
}
