package dev.mcpbridge.config;

/**
 * One thing that is wrong.
 *
 * @param path of the key, {@code mcpServers.git.riskLevel} for example
 * @param what was found, and what was expected
 */
public record ConfigProblem(String path, String what) {
  @Override
  public String toString() {
    return path.isEmpty() ? what : path + ": " + what;
  }
}
