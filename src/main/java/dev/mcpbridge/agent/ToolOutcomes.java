package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import java.util.List;

/** Reads outcomes from the responses of a bridge. Stateless. */
final class ToolOutcomes {
  private ToolOutcomes() {}

  /**
   * @param response an element of {@code tool_responses}
   */
  static ToolOutcome read(JsonNode response) {
    JsonNode output = response.path("output");
    String text = output.path("result").asText(output.path("error").asText(""));
    return switch (response.path("outcome").asText()) {
      case "confirmation_required" -> pending(response.path("confirmation"));
      case "failed" -> failed(response, text);
      default ->
          new ToolOutcome.Result(
              response.path("outcome").asText().equals("tool_error"),
              response.has("content")
                  ? content(response.get("content"), response.path("structured_content"))
                  : List.of(new ContentBlock.Text(text)));
    };
  }

  private static ToolOutcome failed(JsonNode response, String text) {
    JsonNode problem = response.path("problem");
    return problem.path("code").asText().equals("consent_required") && problem.has("connect_url")
        ? new ToolOutcome.ConsentRequired(
            response.path("server_id").asText(), problem.path("connect_url").asText(), text)
        : new ToolOutcome.Failure(text);
  }

  private static ToolOutcome.Pending pending(JsonNode confirmation) {
    return new ToolOutcome.Pending(
        confirmation.path("confirmation_id").asText(),
        confirmation.path("token").asText(null),
        confirmation.path("server_id").asText(),
        confirmation.path("tool_name").asText(),
        confirmation.path("arguments"),
        confirmation.path("risk_description").asText());
  }

  /**
   * The content of a tool's result.
   *
   * @param structured missing if the result has none
   */
  static List<ContentBlock> content(JsonNode content, JsonNode structured) {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    result.set("content", content);
    if (!structured.isMissingNode()) {
      result.set("structuredContent", structured);
    }
    return ContentBlock.of(JsonObjects.members(Json.slice(result)));
  }
}
