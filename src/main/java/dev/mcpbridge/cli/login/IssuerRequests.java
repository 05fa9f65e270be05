package dev.mcpbridge.cli.login;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.mcpbridge.auth.BearerToken;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /** Whether it has a bearer token that can be sent (RFC 6749 section 5.1). */
    boolean hasToken() {
      return ok()
          && body.path("token_type").asText("bearer").equalsIgnoreCase("bearer")
          && BearerToken.isValid(body.path("access_token").asText());
    }

    /** Whether the request may succeed later. */
    boolean isLater() {
      return status == 408 || status == 429 || status >= 500;
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

  /** Sends a form of a client. */
  Response post(String url, Login.Client client, Map<String, String> form)
      throws InterruptedException {
    HttpRequest.Builder request =
        request(url)
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(encoded(form)));
    String authorization = client.authorization();
    return send(authorization == null ? request : request.header("authorization", authorization));
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
    return HttpRequest.newBuilder(permitted(url));
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

  /** The time limit of a request of the JDK ends with the headers of its response. */
  private Response send(HttpRequest.Builder request) throws InterruptedException {
    HttpRequest sent = request.build();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    CompletableFuture<HttpResponse<Void>> answer =
        http.sendAsync(
            sent,
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(body, bytes))));
    try {
      HttpResponse<Void> response = answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      return new Response(response.statusCode(), json(body.toByteArray()));
    } catch (ExecutionException e) {
      throw unreachable(sent.uri(), String.valueOf(e.getCause()));
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw unreachable(sent.uri(), "no answer in " + TIMEOUT.toSeconds() + " s");
    }
  }

  private static void append(ByteArrayOutputStream body, byte[] bytes) {
    if (body.size() + bytes.length > MAX_BYTES) {
      throw new IllegalStateException("the answer is too large");
    }
    body.writeBytes(bytes);
  }

  private static BridgeException unreachable(URI uri, String why) {
    return new BridgeException(
        ErrorCode.ISSUER_UNAVAILABLE, uri.getAuthority() + " cannot be reached: " + printable(why));
  }

  private static JsonNode json(byte[] body) {
    try {
      return Json.tree(body);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }
}
