package dev.mcpbridge.protocol;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Percent-encoding of all but unreserved characters (RFC 3986 section 2). Stateless. */
public final class PercentEncoding {
  private static final String RESERVED_IN_QUERY = ":/?@!$'()*,;";

  private PercentEncoding() {}

  /** Encodes a path segment or a query value. */
  public static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }

  /** Encodes a query value, keeping reserved characters without a special meaning there. */
  public static String reserved(String text) {
    String encoded = encoded(text);
    for (char kept : RESERVED_IN_QUERY.toCharArray()) {
      encoded = encoded.replace("%%%02X".formatted((int) kept), String.valueOf(kept));
    }
    return encoded;
  }
}
