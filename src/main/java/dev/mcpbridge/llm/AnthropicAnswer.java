package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.Map;
import java.util.TreeMap;

/**
 * Puts an answer of Messages together, out of its events or as it came whole. Blocks go back as
 * they came: the API wants its thoughts with their signatures. Of an answer that was cut or refused
 * only the words do, since its calls and thoughts may be unfinished. Confined.
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
      case "message" -> whole(event);
      case "message_start" -> count(event.path("message").path("usage"));
      case "content_block_start" -> begin(event.path("index").asInt(), event.path("content_block"));
      case "content_block_delta" -> more(event.path("index").asInt(), event.path("delta"));
      case "message_delta" -> {
        stop = event.path("delta").path("stop_reason").asText(stop);
        count(event.path("usage"));
      }
      case "error" -> throw FormatAdapter.failed(event.path("error"));
      default -> {
        // pings, ends, and what will be new: the API says that they may be passed over
      }
    }
  }

  private void whole(JsonNode message) {
    JsonNode content = message.path("content");
    for (int i = 0; i < content.size(); i++) {
      begin(i, content.get(i));
    }
    stop = message.path("stop_reason").asText("");
    count(message.path("usage"));
  }

  private void count(JsonNode usage) {
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

  private void more(int index, JsonNode delta) {
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
        // of a kind that is not known yet
      }
    }
  }

  private static void append(ObjectNode block, String name, JsonNode delta) {
    block.put(name, block.path(name).asText("") + delta.path(name).asText(""));
  }

  private void words(String more) {
    if (!more.isEmpty()) {
      text.append(more);
      modelListener.words(more);
    }
  }

  ModelReply reply() {
    if (stop.isEmpty()) {
      throw FormatAdapter.brokeOff(!blocks.isEmpty());
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

  /** The API sends them, and does not take them back. */
  private static boolean isEmptyText(JsonNode block) {
    return isText(block) && block.path("text").asText("").isEmpty();
  }

  private static JsonNode input(String written) {
    try {
      JsonNode read = FormatAdapter.read(written.isBlank() ? "{}" : written);
      return read.isObject() ? read : FormatAdapter.JSON.objectNode();
    } catch (JsonProcessingException e) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The model's answer broke off within a call");
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
