package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.ContentBlock;
import java.util.List;

/** What a call came to. */
public sealed interface ToolOutcome {

  /**
   * A result, good or bad.
   *
   * @param login where the server wants its user to log in first; null for nowhere
   */
  record Result(boolean isError, List<ContentBlock> parts, Login login) implements ToolOutcome {}

  /**
   * There is no result.
   *
   * @param sentence why, and whether it was executed
   */
  record Failure(String sentence) implements ToolOutcome {}

  /**
   * A human has to approve it first.
   *
   * @param token null where somebody else has to
   * @param arguments as they will be sent to the server
   */
  record Pending(
      String id, String token, String server, String tool, JsonNode arguments, String risk)
      implements ToolOutcome {}

  /** A server's wish that its user logs in. */
  record Login(String server, String url) {}
}
