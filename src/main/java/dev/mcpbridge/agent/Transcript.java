package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import java.util.function.Consumer;

/**
 * Writes a conversation as JSON Lines, which {@link dev.mcpbridge.llm.ReplayModel} can replay. It
 * never contains credentials.
 */
public final class Transcript implements AgentListener {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final Consumer<String> lines;

  public Transcript(Consumer<String> lines) {
    this.lines = lines;
  }

  @Override
  public void onQuestion(String question) {
    write(JSON.objectNode().put("user", question));
  }

  @Override
  public void onReply(ModelReply modelReply) {
    ObjectNode message = JSON.objectNode().put("content", modelReply.text());
    if (!modelReply.calls().isEmpty()) {
      ArrayNode calls = message.putArray("tool_calls");
      modelReply.calls().forEach(call -> calls.add(BridgeTools.json(call.id(), call)));
    }
    write(JSON.objectNode().set("model", message));
  }

  @Override
  public void onOutcome(FunctionCall call, ToolOutcome outcome) {
    ObjectNode line = JSON.objectNode().put("result_of", call.name());
    if (outcome instanceof ToolOutcome.Result result) {
      line.put("is_error", result.isError()).put("text", result.text());
    } else if (outcome instanceof ToolOutcome.Failure failure) {
      line.put("is_error", true).put("text", failure.message());
    }
    write(line);
  }

  private void write(JsonNode line) {
    lines.accept(line.toString());
  }
}
