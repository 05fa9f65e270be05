package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;

/** What a model without tools is told of them, and of how to answer. Stateless. */
final class StructuredPrompt {

  /** Within what strict structured output takes: arguments are a text, since their shape varies. */
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
    prompt.append("\n\nAnswer with JSON alone, by this schema:\n").append(SCHEMA);
    prompt.append(
        "\nEither callTool asks for one call of a tool, and toUser is null; or toUser says"
            + " something to the user, and callTool is null.\n");
    if (chatRequest.mayCall()) {
      prompt.append("\nThe tools:\n");
      chatRequest.tools().forEach(tool -> prompt.append(described(tool)).append('\n'));
    } else {
      prompt.append("\nNo tool can be called any more: callTool must be null.\n");
    }
    return prompt.toString();
  }

  private static JsonNode described(JsonNode tool) {
    ObjectNode known = FormatAdapter.JSON.objectNode();
    known.set("name", tool.path("function").path("name"));
    known.set("description", tool.path("function").path("description"));
    known.set("arguments", tool.path("function").path("parameters"));
    return known;
  }

  static String again(String why) {
    return "That could not be used: " + why + ". Answer again, with JSON by the schema alone.";
  }

  private static JsonNode tree(String singleQuoted) {
    try {
      return Json.tree(singleQuoted.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
