package dev.mcpbridge.gitserver;

/** There is no tool of that name. Stackless. */
final class UnknownToolException extends Exception {
  private static final long serialVersionUID = 1L;

  UnknownToolException(String name) {
    super("Unknown tool " + name, null, false, false);
  }
}
