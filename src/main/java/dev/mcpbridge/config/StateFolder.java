package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Map;

/** The folder for data that outlives a bridge (XDG Base Directory Specification). */
public final class StateFolder {
  private StateFolder() {}

  /** The folder of this user, which may not exist yet. */
  public static Path of(Map<String, String> environment) {
    Path state = Path.of(environment.getOrDefault("XDG_STATE_HOME", ""));
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    Path base = state.isAbsolute() ? state : Path.of(home, ".local", "state");
    return base.resolve("mcp-bridge");
  }
}
