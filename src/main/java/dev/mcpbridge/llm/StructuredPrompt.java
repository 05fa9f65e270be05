package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;

/** The prompt with the tools and the answer format for a model without tool calls. Stateless. */
final class StructuredPrompt {

  /** Valid for strict structured output. Arguments are a string, since their schema varies. */
  static final JsonNode SCHEMA =
      tree(
          "{'type':'object','additionalProperties':false,'required':['callTool','toUser'],"
              + "'properties':{'callTool':{'anyOf':[{'type':'object','additionalProperties':false,"
              + "'required':['name','arguments'],'properties':{'name':{'type':'string'},"
              + "'arguments':{'type':'string','description':'The arguments: a JSON object, as"
              + " text.'}}},{'type':'null'}]},'toUser':{'anyOf':[{'type':'string'},"
              + "{'type':'null'}]}}}");

  private StructuredPrompt() {}

  static String of(ChatRequest chatRequest) {
    StringBuilder prompt = new StringBuilder(chatRequest.instructions());
    prompt.append("\n\nAnswer only with JSON that matches this schema:\n").append(SCHEMA);
    prompt.append(
        "\nEither callTool requests one call of a tool and toUser is null, or toUser is a"
            + " message to the user and callTool is null.\n");
    if (chatRequest.mayCall()) {
      prompt.append("\nThe tools:\n");
      chatRequest.tools().forEach(tool -> prompt.append(describe(tool)).append('\n'));
    } else {
      prompt.append("\nTools can no longer be called: callTool must be null.\n");
    }
    return prompt.toString();
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

  private static JsonNode tree(String singleQuoted) {
    try {
      return Json.tree(singleQuoted.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
