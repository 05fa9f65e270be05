package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.Set;

/**
 * Assembles a reply of generateContent from its chunks. Parts are kept unchanged with their
 * signatures; only consecutive texts are joined. Not thread-safe.
 */
final class GeminiAnswer {
  private static final Set<String> REFUSALS =
      Set.of("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE");

  private final ChatModel.ModelListener modelListener;
  private final ArrayNode parts = FormatAdapter.JSON.arrayNode();
  private final StringBuilder text = new StringBuilder();
  private ModelReply.Usage usage = ModelReply.Usage.NONE;
  private String finish = "";

  GeminiAnswer(ChatModel.ModelListener modelListener) {
    this.modelListener = modelListener;
  }

  void take(JsonNode chunk) {
    if (chunk.path("error").isObject()) {
      throw FormatAdapter.providerError(chunk.get("error"));
    }
    String block = chunk.path("promptFeedback").path("blockReason").asText("");
    if (!block.isEmpty()) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_ERROR, "The model's provider blocked the question: " + block);
    }
    JsonNode metadata = chunk.path("usageMetadata");
    if (metadata.isObject()) {
      long thoughts = metadata.path("thoughtsTokenCount").asLong();
      usage =
          new ModelReply.Usage(
              metadata.path("promptTokenCount").asLong(),
              metadata.path("candidatesTokenCount").asLong() + thoughts);
    }
    JsonNode candidate = chunk.path("candidates").path(0);
    finish = candidate.path("finishReason").asText(finish);
    candidate.path("content").path("parts").forEach(this::part);
  }

  private void part(JsonNode part) {
    boolean isThought = part.path("thought").asBoolean();
    String addition = part.path("text").asText("");
    if (!isThought && !addition.isEmpty()) {
      text.append(addition);
      modelListener.onText(addition);
    }
    if (!parts.isEmpty() && isPlain(part) && isPlain(parts.get(parts.size() - 1))) {
      ObjectNode last = (ObjectNode) parts.get(parts.size() - 1);
      last.put("text", last.path("text").asText() + addition);
    } else if (part.isObject() && !(isPlain(part) && addition.isEmpty())) {
      parts.add(part.deepCopy());
    }
  }

  /** A part that has only text, without a signature. */
  private static boolean isPlain(JsonNode part) {
    return part.size() == 1 && part.path("text").isTextual();
  }

  ModelReply reply() {
    if (finish.isEmpty()) {
      throw FormatAdapter.incompleteAnswer(!parts.isEmpty());
    }
    ModelReply.End end = end();
    if (end != ModelReply.End.DONE) {
      removeCalls();
    }
    if (parts.isEmpty()) {
      if (end == ModelReply.End.DONE && !finish.equals("STOP")) {
        throw new BridgeException(
            ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The model returned no answer: " + finish);
      }
      boolean isRefused = end == ModelReply.End.REFUSED;
      parts.addObject().put("text", isRefused ? "(refused: " + finish + ")" : "(no answer)");
    }
    ObjectNode message = FormatAdapter.JSON.objectNode().put("role", "model");
    message.set("parts", parts);
    return new ModelReply(
        message, text.toString(), FormatAdapter.calls(Format.GEMINI, message), end, usage);
  }

  /** The calls of a reply that was cut off or refused are not made. */
  private void removeCalls() {
    for (int i = parts.size() - 1; i >= 0; i--) {
      if (parts.get(i).has("functionCall")) {
        parts.remove(i);
      }
    }
  }

  private ModelReply.End end() {
    if (REFUSALS.contains(finish)) {
      return ModelReply.End.REFUSED;
    }
    return finish.equals("MAX_TOKENS") ? ModelReply.End.CUT : ModelReply.End.DONE;
  }
}
