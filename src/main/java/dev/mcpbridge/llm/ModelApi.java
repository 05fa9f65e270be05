package dev.mcpbridge.llm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.SseReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Requests to a model's API: answers whole or as events, repetitions where the provider asks for
 * them, failures as sentences that never hold a key.
 */
final class ModelApi {
  private static final int MAX_ANSWER = 32 << 20;
  private static final int MAX_SAID = 500;
  private static final Duration CONNECT = Duration.ofSeconds(10);

  private HttpClient client;
  private final Map<String, String> headers;
  private final String key;
  private final Duration patience;
  private final RetryPolicy retryPolicy = new RetryPolicy();

  ModelApi(Map<String, String> headers, ModelEndpoint modelEndpoint) {
    this.headers = headers;
    this.key = modelEndpoint.key();
    this.patience = modelEndpoint.patience();
  }

  /**
   * Posts a request until it is answered or makes no sense any more. An answer that has begun is
   * never asked for again.
   *
   * @param answer gets each event's JSON in order, or the whole answer where it is none of events
   */
  void post(
      URI url, JsonNode body, ChatModel.ModelListener modelListener, Consumer<JsonNode> answer)
      throws InterruptedException {
    byte[] text = bytes(body);
    for (int failures = 1; ; failures++) {
      try {
        once(url, text, answer);
        return;
      } catch (RetryPolicy.Needed needed) {
        retryPolicy.await(needed.saying(this::hidden), failures, modelListener);
      } catch (BridgeException failure) {
        throw hidden(failure);
      }
    }
  }

  /** Providers may repeat what they were sent. */
  private BridgeException hidden(BridgeException failure) {
    return key == null || key.isEmpty() || !failure.getMessage().contains(key)
        ? failure
        : new BridgeException(failure.code(), failure.getMessage().replace(key, "(the key)"));
  }

  private void once(URI url, byte[] text, Consumer<JsonNode> answer)
      throws InterruptedException, RetryPolicy.Needed {
    HttpResponse<Flow.Publisher<List<ByteBuffer>>> response = head(url, request(url, text));
    boolean[] begun = new boolean[1];
    try (ResponseBodyReader body = new ResponseBodyReader(patience)) {
      response.body().subscribe(body);
      if (response.statusCode() != 200) {
        throw RetryPolicy.of(response, refused(url, response.statusCode(), whole(body)));
      }
      boolean isStream =
          response
              .headers()
              .firstValue("content-type")
              .orElse("")
              .toLowerCase(Locale.ROOT)
              .startsWith("text/event-stream");
      if (isStream) {
        events(
            body,
            event -> {
              begun[0] = true;
              answer.accept(event);
            });
      } else {
        answer.accept(json(url, whole(body)));
      }
    } catch (HttpTimeoutException e) {
      throw broken(url, e.getMessage());
    } catch (IOException e) {
      BridgeException failure = broken(url, e.getMessage());
      if (begun[0]) {
        throw failure;
      }
      throw new RetryPolicy.Needed(failure, -1);
    }
  }

  private HttpRequest request(URI url, byte[] text) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .POST(HttpRequest.BodyPublishers.ofByteArray(text));
    try {
      headers.forEach(request::header);
    } catch (IllegalArgumentException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The key holds a character that cannot be sent");
    }
    return request.build();
  }

  private HttpResponse<Flow.Publisher<List<ByteBuffer>>> head(URI url, HttpRequest request)
      throws InterruptedException, RetryPolicy.Needed {
    CompletableFuture<HttpResponse<Flow.Publisher<List<ByteBuffer>>>> response =
        client().sendAsync(request, HttpResponse.BodyHandlers.ofPublisher());
    try {
      return response.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      abandon(response);
      throw broken(url, "no answer within " + patience.toSeconds() + " s");
    } catch (InterruptedException e) {
      abandon(response);
      throw e;
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      BridgeException failure = broken(url, reason(cause));
      boolean isNobodyThere =
          cause instanceof ConnectException && !(cause instanceof HttpConnectTimeoutException);
      if (isNobodyThere) {
        throw failure;
      }
      throw new RetryPolicy.Needed(failure, -1);
    }
  }

  /** One that has just come, too. */
  private void abandon(CompletableFuture<HttpResponse<Flow.Publisher<List<ByteBuffer>>>> response) {
    if (!response.cancel(true)) {
      response.thenAccept(
          late -> {
            try (ResponseBodyReader unheard = new ResponseBodyReader(patience)) {
              late.body().subscribe(unheard);
            }
          });
    }
  }

  private static String reason(Throwable cause) {
    if (cause instanceof ConnectException && cause.getMessage() == null) {
      return "nothing listens there";
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  private static void events(ResponseBodyReader body, Consumer<JsonNode> answer)
      throws IOException, InterruptedException {
    SseReader reader =
        new SseReader(
            MAX_ANSWER,
            event -> {
              if (!event.text().equals("[DONE]")) {
                answer.accept(json(null, event.data()));
              }
            });
    long all = 0;
    for (byte[] bytes = body.next(); bytes != null; bytes = body.next()) {
      all += bytes.length;
      if (all > MAX_ANSWER) {
        throw endless();
      }
      reader.feed(bytes);
    }
  }

  private static byte[] whole(ResponseBodyReader body) throws IOException, InterruptedException {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (byte[] bytes = body.next(); bytes != null; bytes = body.next()) {
      whole.writeBytes(bytes);
      if (whole.size() > MAX_ANSWER) {
        throw endless();
      }
    }
    return whole.toByteArray();
  }

  private static BridgeException endless() {
    return new BridgeException(ErrorCode.RESPONSE_TOO_LARGE, "The model's answer has no end");
  }

  private static JsonNode json(URI url, byte[] text) {
    try {
      JsonNode json = FormatAdapter.read(new String(text, StandardCharsets.UTF_8));
      if (json.isObject()) {
        return json;
      }
    } catch (IOException e) {
      // said below
    }
    throw new BridgeException(
        ErrorCode.UPSTREAM_PROTOCOL_ERROR,
        (url == null ? "The model" : "What is at " + url.getAuthority())
            + " answered with something that is no JSON: "
            + shortened(new String(text, StandardCharsets.UTF_8)));
  }

  private static BridgeException refused(URI url, int status, byte[] body) {
    String said = said(body);
    return new BridgeException(
        status == 429 ? ErrorCode.RATE_LIMITED : ErrorCode.UPSTREAM_ERROR,
        url.getAuthority()
            + " answered with status "
            + status
            + (said.isEmpty() ? "" : ": " + said)
            + (status == 401 || status == 403 ? " (is the key right?)" : ""));
  }

  /** The three providers have the sentence at the same place. */
  static String said(byte[] body) {
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
    return line.length() > MAX_SAID ? line.substring(0, MAX_SAID) + "…" : line;
  }

  private static BridgeException broken(URI url, String why) {
    return new BridgeException(
        ErrorCode.SERVER_UNAVAILABLE, url.getAuthority() + " cannot be reached: " + why);
  }

  private static byte[] bytes(JsonNode body) {
    try {
      return Json.mapper().writeValueAsBytes(body);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree always serialises", e);
    }
  }

  /** Made when it is needed: that loads all of TLS. */
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
