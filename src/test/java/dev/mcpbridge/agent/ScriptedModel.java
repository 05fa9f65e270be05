package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ChatRequest;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/** A model that follows a script and records its requests. */
final class ScriptedModel implements ChatModel {
  private final Deque<Turn> turns = new ArrayDeque<>();
  final List<ChatRequest> requests = new ArrayList<>();

  /** The next reply. */
  @FunctionalInterface
  interface Turn {
    ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
        throws InterruptedException;
  }

  ScriptedModel then(Turn... more) {
    turns.addAll(Arrays.asList(more));
    return this;
  }

  static Turn says(String words) {
    return ends(words, ModelReply.End.DONE);
  }

  static Turn ends(String words, ModelReply.End end) {
    return (chatRequest, modelListener) -> {
      modelListener.onText(words);
      return new ModelReply(message(words), words, List.of(), end, new ModelReply.Usage(10, 1));
    };
  }

  /** Calls these functions without arguments. */
  static Turn calls(String... names) {
    return (chatRequest, modelListener) -> {
      ObjectNode message = message("");
      ArrayNode calls = message.putArray("tool_calls");
      List<FunctionCall> all = new ArrayList<>();
      for (int i = 0; i < names.length; i++) {
        ObjectNode call = calls.addObject().put("id", "id_" + i).put("type", "function");
        call.putObject("function").put("name", names[i]).put("arguments", "{}");
        all.add(new FunctionCall("id_" + i, names[i], JsonSlice.EMPTY_OBJECT));
      }
      return new ModelReply(message, "", all, ModelReply.End.DONE, new ModelReply.Usage(10, 1));
    };
  }

  private static ObjectNode message(String words) {
    return Json.object().put("role", "assistant").put("content", words);
  }

  /** The messages of the last request, each as a line with its role and content. */
  List<String> lastMessages() {
    return requests.get(requests.size() - 1).messages().stream()
        .map(
            message ->
                message.path("role").asText()
                    + (message.has("tool_call_id")
                        ? " " + message.get("tool_call_id").asText()
                        : "")
                    + (message.has("tool_calls")
                        ? " calls " + message.get("tool_calls").size()
                        : "")
                    + ": "
                    + message.path("content").asText())
        .toList();
  }

  @Override
  public String model() {
    return "scripted";
  }

  @Override
  public String name() {
    return "scripted";
  }

  @Override
  public Format format() {
    return Format.OPENAI_CHAT;
  }

  @Override
  public ModelReply reply(ChatRequest chatRequest, ModelListener modelListener)
      throws InterruptedException {
    requests.add(chatRequest);
    return turns.remove().reply(chatRequest, modelListener);
  }
}
