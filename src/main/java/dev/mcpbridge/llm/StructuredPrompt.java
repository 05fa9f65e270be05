package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.JsonSlice;

/** The prompt with the tools and the answer format for a model without tool calls. Stateless. */
final class StructuredPrompt {

  /** Valid for strict structured output. Arguments are a string, since their schema varies. */
  static final JsonNode SCHEMA =
      FormatAdapter.tree(
          JsonSlice.of(
              """
              {"type":"object","additionalProperties":false,"required":["callTool","toUser"],
              "properties":{"callTool":{"anyOf":[{"type":"object","additionalProperties":false,
              "required":["name","arguments"],"properties":{"name":{"type":"string"},
              "arguments":{"type":"string","description":"The arguments: a JSON object, as text."}}},
              {"type":"null"}]},"toUser":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"""));

  private StructuredPrompt() {}

  static String of(ChatRequest chatRequest) {
    StringBuilder tools = new StringBuilder("The tools:\n");
    chatRequest.tools().forEach(tool -> tools.append(describe(tool)).append('\n'));
    return """
        %s

        Answer only with JSON that matches this schema:
        %s
        Either callTool requests one call of a tool and toUser is null, or toUser is a message to \
        the user and callTool is null.

        %s"""
        .formatted(
            chatRequest.instructions(),
            SCHEMA,
            chatRequest.mayCall()
                ? tools
                : "Tools can no longer be called: callTool must be null.\n");
  }

  private static JsonNode describe(JsonNode tool) {
    ObjectNode description = FormatAdapter.JSON.objectNode();
    description.set("name", tool.path("function").path("name"));
    description.set("description", tool.path("function").path("description"));
    description.set("arguments", tool.path("function").path("parameters"));
    return description;
  }

  static String retryMessage(String why) {
    return "The answer is invalid: "
        + why
        + ". Answer again, only with JSON that matches the schema.";
  }
}
