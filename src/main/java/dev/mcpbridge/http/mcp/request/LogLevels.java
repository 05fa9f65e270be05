package dev.mcpbridge.http.mcp.request;

import java.util.List;

/** The severities of RFC 5424 as MCP names them. */
public final class LogLevels {
  private static final List<String> ASCENDING =
      List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

  private LogLevels() {}

  public static boolean isLevel(String name) {
    return name != null && ASCENDING.contains(name);
  }

  /** Whether a message passes a threshold; a message of an unknown level does. */
  static boolean reaches(String messageLevel, String threshold) {
    int level = ASCENDING.indexOf(messageLevel);
    return level < 0 || level >= ASCENDING.indexOf(threshold);
  }
}
