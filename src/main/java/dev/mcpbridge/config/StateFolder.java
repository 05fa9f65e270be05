package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Map;

/** Where a user's bridges keep what outlives them (XDG Base Directory Specification). */
public final class StateFolder {
  private StateFolder() {}

  /** May not exist yet. */
  public static Path of(Map<String, String> environment) {
    Path state = Path.of(environment.getOrDefault("XDG_STATE_HOME", ""));
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    Path base = state.isAbsolute() ? state : Path.of(home, ".local", "state");
    return base.resolve("mcp-bridge");
  }
}
