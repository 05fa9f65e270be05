package dev.mcpbridge.config;

/**
 * How much is too much.
 *
 * @param bodyBytes of a request
 * @param messageBytes of one message of an upstream
 * @param heldBytes of large answers on their way through, and as much of large bodies
 * @param depth of nesting, both ways
 * @param validation of arguments and results
 */
public record LimitsConfig(
    int bodyBytes, int messageBytes, long heldBytes, int depth, Validation validation) {

  /**
   * What checking one value against a tool's schema may take.
   *
   * @param refuses whether arguments are refused that take more; else the server judges them
   */
  public record Validation(boolean refuses, int steps, long millis) {}
}
