package dev.mcpbridge.protocol;

/** A JSON syntax error and its byte offset. Has no stack trace. */
public final class JsonSyntaxException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int offset;

  JsonSyntaxException(String problem, int offset) {
    super(problem + " at byte " + offset, null, false, false);
    this.offset = offset;
  }

  public int offset() {
    return offset;
  }
}
