package dev.mcpbridge.llm;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.SseReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A model behind an HTTP API. Reads responses as a whole or as events, retries transient failures,
 * and reports errors without the API key.
 */
abstract class HttpModel implements ChatModel {
  private static final int MAX_ERROR_TEXT = 500;
  private static final Duration CONNECT = Duration.ofSeconds(10);

  final ModelEndpoint modelEndpoint;
  private final Format format;
  private final Map<String, String> headers;
  private final RetryPolicy retryPolicy = new RetryPolicy();
  private HttpClient client;

  /**
   * @param headers the headers with the key, and others that the API requires
   */
  HttpModel(ModelEndpoint modelEndpoint, Format format, Map<String, String> headers) {
    this.modelEndpoint = modelEndpoint;
    this.format = format;
    this.headers = headers;
  }

  @Override
  public String name() {
    return modelEndpoint.toString();
  }

  @Override
  public String model() {
    return modelEndpoint.model();
  }

  @Override
  public final Format format() {
    return format;
  }

  /**
   * Posts a request, with retries. A request is not retried once an event of its response has been
   * delivered.
   *
   * @param answer receives the JSON of each event in order, or of a response without events
   */
  final void post(
      String path, JsonNode body, ModelListener modelListener, Consumer<JsonNode> answer)
      throws InterruptedException {
    URI url = modelEndpoint.resolve(path);
    String requestBody = body.toString();
    for (int failures = 1; ; failures++) {
      try {
        send(url, requestBody, answer);
        return;
      } catch (RetryPolicy.RetryableFailure retryableFailure) {
        retryPolicy.await(retryableFailure.mapFailure(this::withoutKey), failures, modelListener);
      } catch (BridgeException failure) {
        throw withoutKey(failure);
      }
    }
  }

  /** Removes the key from the message, since providers may echo it. */
  private BridgeException withoutKey(BridgeException failure) {
    String key = modelEndpoint.key();
    return key == null || key.isEmpty() || !failure.getMessage().contains(key)
        ? failure
        : new BridgeException(failure.code(), failure.getMessage().replace(key, "(the key)"));
  }

  private void send(URI url, String requestBody, Consumer<JsonNode> answer)
      throws InterruptedException, RetryPolicy.RetryableFailure {
    boolean[] begun = new boolean[1];
    try (ModelExchange exchange =
        new ModelExchange(client(), request(url, requestBody), modelEndpoint.timeout())) {
      HttpResponse.ResponseInfo head = head(url, exchange);
      if (head.statusCode() != 200) {
        throw RetryPolicy.of(head, refused(url, head.statusCode(), exchange.readAll()));
      }
      String type = head.headers().firstValue("content-type").orElse("");
      if (type.toLowerCase(Locale.ROOT).startsWith("text/event-stream")) {
        readEvents(
            exchange,
            event -> {
              begun[0] = true;
              answer.accept(event);
            });
      } else {
        answer.accept(json(url, exchange.readAll()));
      }
    } catch (HttpTimeoutException e) {
      throw unreachable(url, e.getMessage());
    } catch (IOException e) {
      BridgeException failure = unreachable(url, e.getMessage());
      if (begun[0]) {
        throw failure;
      }
      throw new RetryPolicy.RetryableFailure(failure, -1);
    }
  }

  private HttpRequest request(URI url, String requestBody) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .POST(HttpRequest.BodyPublishers.ofString(requestBody));
    try {
      headers.forEach(request::header);
    } catch (IllegalArgumentException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST,
          "The API key contains a character that is invalid in an HTTP header");
    }
    return request.build();
  }

  private HttpResponse.ResponseInfo head(URI url, ModelExchange exchange)
      throws InterruptedException, RetryPolicy.RetryableFailure {
    try {
      return exchange.head();
    } catch (TimeoutException e) {
      throw unreachable(url, "no answer within " + modelEndpoint.timeout().toSeconds() + " s");
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      BridgeException failure = unreachable(url, reason(cause));
      boolean isRefused =
          cause instanceof ConnectException && !(cause instanceof HttpConnectTimeoutException);
      if (isRefused) {
        throw failure;
      }
      throw new RetryPolicy.RetryableFailure(failure, -1);
    }
  }

  private static String reason(Throwable cause) {
    if (cause instanceof ConnectException && cause.getMessage() == null) {
      return "connection refused";
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  private static void readEvents(ModelExchange exchange, Consumer<JsonNode> answer)
      throws IOException, InterruptedException {
    SseReader reader =
        new SseReader(
            Integer.MAX_VALUE,
            event -> {
              if (!event.text().equals("[DONE]")) {
                answer.accept(json(null, event.data()));
              }
            });
    for (byte[] bytes = exchange.next(); bytes != null; bytes = exchange.next()) {
      reader.feed(bytes);
    }
  }

  private static JsonNode json(URI url, byte[] body) {
    try {
      JsonNode json = Json.exactTree(new String(body, StandardCharsets.UTF_8));
      if (json.isObject()) {
        return json;
      }
    } catch (IOException e) {
      // reported below
    }
    throw new BridgeException(
        ErrorCode.UPSTREAM_PROTOCOL_ERROR,
        (url == null ? "The model" : "The server at " + url.getAuthority())
            + " did not return a JSON object: "
            + shortened(new String(body, StandardCharsets.UTF_8)));
  }

  private static BridgeException refused(URI url, int status, byte[] body) {
    String message = errorMessage(body);
    return new BridgeException(
        status == 429 ? ErrorCode.RATE_LIMITED : ErrorCode.UPSTREAM_ERROR,
        url.getAuthority()
            + " answered with status "
            + status
            + (message.isEmpty() ? "" : ": " + message)
            + (status == 401 || status == 403 ? " (check the API key)" : ""));
  }

  /** The error message of a response. All providers use the same member for it. */
  static String errorMessage(byte[] body) {
    try {
      JsonNode json = Json.tree(body);
      JsonNode error = json.isArray() ? json.path(0).path("error") : json.path("error");
      return shortened(error.isTextual() ? error.asText() : error.path("message").asText(""));
    } catch (IOException e) {
      return shortened(new String(body, StandardCharsets.UTF_8));
    }
  }

  private static String shortened(String text) {
    String line = text.replaceAll("\\s+", " ").strip();
    return line.length() > MAX_ERROR_TEXT ? line.substring(0, MAX_ERROR_TEXT) + "…" : line;
  }

  private static BridgeException unreachable(URI url, String why) {
    return new BridgeException(
        ErrorCode.SERVER_UNAVAILABLE, url.getAuthority() + " cannot be reached: " + why);
  }

  /** Created lazily, since it loads the TLS classes. */
  private HttpClient client() {
    if (client == null) {
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(CONNECT)
              .build();
    }
    return client;
  }
}
