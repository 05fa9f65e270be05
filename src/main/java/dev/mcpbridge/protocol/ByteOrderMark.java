package dev.mcpbridge.protocol;

/** The mark that may precede text in UTF-8 (RFC 3629 section 6). Stateless. */
public final class ByteOrderMark {
  private ByteOrderMark() {}

  /** The number of bytes of the mark at the beginning of a text; 0 without one. */
  public static int length(byte[] text) {
    boolean isPresent =
        text.length >= 3
            && text[0] == (byte) 0xEF
            && text[1] == (byte) 0xBB
            && text[2] == (byte) 0xBF;
    return isPresent ? 3 : 0;
  }
}
