package dev.mcpbridge.config;

/**
 * One problem of a configuration.
 *
 * @param path of the key, for example {@code mcpServers.git.riskLevel}; empty for the whole text
 * @param message what is wrong: the value expected and the value found
 */
public record ConfigProblem(String path, String message) {
  @Override
  public String toString() {
    return path.isEmpty() ? message : path + ": " + message;
  }
}
