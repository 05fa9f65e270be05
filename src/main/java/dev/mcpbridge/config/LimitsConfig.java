package dev.mcpbridge.config;

/**
 * Size limits.
 *
 * @param bodyBytes of a request body
 * @param messageBytes of one message from an upstream
 * @param heldBytes memory for buffered large responses, and the same again for large request bodies
 * @param depth nesting of JSON, in requests and responses
 * @param validation of arguments and results
 */
public record LimitsConfig(
    int bodyBytes, int messageBytes, long heldBytes, int depth, Validation validation) {

  /**
   * Budget for the validation of one value against the schema of a tool.
   *
   * @param refusesOverBudget whether arguments that exceed the budget are refused; otherwise they
   *     are forwarded unchecked
   */
  public record Validation(boolean refusesOverBudget, int steps, long millis) {}
}
