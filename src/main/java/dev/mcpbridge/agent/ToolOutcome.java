package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.ContentBlock;
import java.util.List;
import java.util.stream.Collectors;

/** The outcome of a tool call. */
public sealed interface ToolOutcome {

  /** The result of a tool. */
  record Result(boolean isError, List<ContentBlock> content) implements ToolOutcome {

    /** The content for people. */
    public String text() {
      return content.stream().map(ContentBlock::words).collect(Collectors.joining("\n"));
    }
  }

  /**
   * The call failed without a result.
   *
   * @param message the reason, and whether the call was executed
   */
  record Failure(String message) implements ToolOutcome {}

  /**
   * The call needs an approval.
   *
   * @param token null if another user has to approve it
   * @param arguments the arguments as they will be sent to the server
   */
  record Pending(
      String id, String token, String server, String tool, JsonNode arguments, String risk)
      implements ToolOutcome {}

  /**
   * The call has not run, because its user has to agree first, at a page of the bridge.
   *
   * @param message the failure, for a user who does not
   */
  record ConsentRequired(String server, String url, String message) implements ToolOutcome {}
}
