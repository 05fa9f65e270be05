package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;

/** Percent-encoding of all but unreserved characters (RFC 3986 section 2). Stateless. */
public final class PercentEncoding {
  private static final String UNRESERVED =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  private static final String RESERVED_IN_QUERY = ":/?@!$'()*,;";
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private PercentEncoding() {}

  /** Encodes a path segment or a query value. */
  public static String encoded(String text) {
    return encoded(text, "");
  }

  /** Encodes a query value, keeping reserved characters without a special meaning there. */
  public static String reserved(String text) {
    return encoded(text, RESERVED_IN_QUERY);
  }

  private static String encoded(String text, String unencoded) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      if (c < 0x80 && (UNRESERVED.indexOf(c) >= 0 || unencoded.indexOf(c) >= 0)) {
        out.append(c);
      } else {
        out.append('%').append(HEX[c >> 4]).append(HEX[c & 0xF]);
      }
    }
    return out.toString();
  }
}
