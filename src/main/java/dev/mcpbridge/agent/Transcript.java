package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.Part;
import dev.mcpbridge.llm.Reply;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Writes a conversation down, a line of JSON for each thing that was said or done; {@link
 * dev.mcpbridge.llm.ReplayModel} plays it again. No credential is ever among it.
 */
public final class Transcript implements Watcher {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final Consumer<String> lines;

  public Transcript(Consumer<String> lines) {
    this.lines = lines;
  }

  @Override
  public void asked(String question) {
    write(JSON.objectNode().put("user", question));
  }

  @Override
  public void said(Reply reply) {
    ObjectNode message = JSON.objectNode().put("content", reply.text());
    if (!reply.calls().isEmpty()) {
      ArrayNode calls = message.putArray("tool_calls");
      reply.calls().forEach(call -> calls.add(json(call)));
    }
    write(JSON.objectNode().set("model", message));
  }

  private static JsonNode json(FunctionCall call) {
    ObjectNode json = JSON.objectNode().put("id", call.id()).put("type", "function");
    json.putObject("function").put("name", call.name()).put("arguments", call.arguments().text());
    return json;
  }

  @Override
  public void ended(FunctionCall call, ToolEnd end) {
    ObjectNode line = JSON.objectNode().put("result_of", call.name());
    if (end instanceof ToolEnd.Result result) {
      line.put("is_error", result.isError());
      line.put("text", result.parts().stream().map(Part::words).collect(Collectors.joining("\n")));
    } else if (end instanceof ToolEnd.Failure failure) {
      line.put("is_error", true).put("text", failure.sentence());
    }
    write(line);
  }

  private void write(JsonNode line) {
    lines.accept(line.toString());
  }
}
