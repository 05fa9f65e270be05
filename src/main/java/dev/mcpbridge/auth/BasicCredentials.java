package dev.mcpbridge.auth;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The authentication of a client at a token endpoint (RFC 6749 section 2.3.1). Stateless. */
public final class BasicCredentials {
  private BasicCredentials() {}

  /** A value of Authorization. */
  public static String of(String clientId, String secret) {
    String pair = encoded(clientId) + ':' + encoded(secret);
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
