package dev.mcpbridge.http.mcp;

import java.util.List;

/** The severities of RFC 5424 as MCP names them. */
final class LogLevels {
  private static final List<String> ASCENDING =
      List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

  private LogLevels() {}

  static boolean isLevel(String word) {
    return word != null && ASCENDING.contains(word);
  }

  /** Whether somebody who asked for a level hears a message; a level nobody knows is heard. */
  static boolean reaches(String messageLevel, String asked) {
    int level = ASCENDING.indexOf(messageLevel);
    return level < 0 || level >= ASCENDING.indexOf(asked);
  }
}
