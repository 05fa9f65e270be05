package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;

/** Percent-encoding (RFC 3986 section 2): everything but unreserved characters. Stateless. */
public final class PercentEncoding {
  private static final String UNRESERVED =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  private static final String RESERVED_IN_QUERY = ":/?@!$'()*,;";
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private PercentEncoding() {}

  /** A value as one segment of a path, or one value of a query. */
  public static String encoded(String text) {
    return encoded(text, "");
  }

  /** With what a query may hold without meaning something else there. */
  public static String reserved(String text) {
    return encoded(text, RESERVED_IN_QUERY);
  }

  private static String encoded(String text, String kept) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      if (c < 0x80 && (UNRESERVED.indexOf(c) >= 0 || kept.indexOf(c) >= 0)) {
        out.append(c);
      } else {
        out.append('%').append(HEX[c >> 4]).append(HEX[c & 0xF]);
      }
    }
    return out.toString();
  }
}
