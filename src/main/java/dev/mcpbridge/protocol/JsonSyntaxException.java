package dev.mcpbridge.protocol;

/** Says what is wrong with a JSON text and at which byte. Stackless. */
public final class JsonSyntaxException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int offset;

  JsonSyntaxException(String what, int offset) {
    super(what + " at byte " + offset, null, false, false);
    this.offset = offset;
  }

  public int offset() {
    return offset;
  }
}
