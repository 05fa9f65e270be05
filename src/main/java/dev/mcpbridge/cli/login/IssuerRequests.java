package dev.mcpbridge.cli.login;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Requests to a bridge's authorization server, over HTTPS or to this machine. Redirects are not
 * followed. Blocking.
 */
final class IssuerRequests {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_BYTES = 256 << 10;
  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();

  /** A JSON response; the body is missing if it is not JSON. */
  record Response(int status, JsonNode body) {
    boolean ok() {
      return status < 300 && body.isObject();
    }

    /** The error code (RFC 6749 section 5.2). */
    String error() {
      return printable(body.path("error").asText("HTTP " + status));
    }

    /** The error code and its description, for a person. */
    String reason() {
      String text = body.path("error_description").asText();
      return text.isEmpty() ? error() : error() + ": " + printable(text);
    }
  }

  /** Text of another party, without what would control a terminal. */
  static String printable(String text) {
    String line = text.replaceAll("[\\p{Cntrl}\\p{Cf}]", " ");
    return line.length() > 300 ? line.substring(0, 300) + "…" : line;
  }

  Response get(String url) throws InterruptedException {
    return send(request(url).header("accept", "application/json"));
  }

  Response post(String url, JsonNode json) throws InterruptedException {
    return send(
        request(url)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json.toString())));
  }

  Response post(String url, Map<String, String> form) throws InterruptedException {
    return send(
        request(url)
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(encoded(form))));
  }

  /** In {@code application/x-www-form-urlencoded}. */
  static String encoded(Map<String, String> form) {
    return form.entrySet().stream()
        .map(
            field ->
                field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
  }

  private static HttpRequest.Builder request(String url) {
    return HttpRequest.newBuilder(permitted(url)).timeout(TIMEOUT);
  }

  /** A URL to which secrets may be sent. */
  static URI permitted(String url) {
    try {
      URI uri = URI.create(url);
      boolean isLocal =
          "http".equals(uri.getScheme()) && LOOPBACK.contains(String.valueOf(uri.getHost()));
      if (uri.getHost() != null && ("https".equals(uri.getScheme()) || isLocal)) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    throw refused("'" + printable(url) + "' is not an https URL");
  }

  static BridgeException refused(String message) {
    return new BridgeException(ErrorCode.UNAUTHENTICATED, message);
  }

  private Response send(HttpRequest.Builder request) throws InterruptedException {
    HttpRequest sent = request.build();
    try {
      HttpResponse<InputStream> response =
          http.send(sent, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        return new Response(response.statusCode(), json(body.readNBytes(MAX_BYTES)));
      }
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.ISSUER_UNAVAILABLE,
          sent.uri().getAuthority() + " cannot be reached: " + printable(String.valueOf(e)));
    }
  }

  private static JsonNode json(byte[] body) {
    try {
      return Json.tree(body);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }
}
