package dev.mcpbridge.gitserver;

/** There is no tool with that name. Has no stack trace. */
final class UnknownToolException extends Exception {
  private static final long serialVersionUID = 1L;

  UnknownToolException(String name) {
    super("Unknown tool " + name, null, false, false);
  }
}
