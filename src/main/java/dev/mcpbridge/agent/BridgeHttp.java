package dev.mcpbridge.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.TraceContext;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * HTTP client of a bridge. Not thread-safe. Requests are never retried, since a call may have run.
 * The client can be used again after a failure.
 */
public final class BridgeHttp {
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final Supplier<BridgeTools.BridgeAddress> addressSource;
  private BridgeTools.BridgeAddress bridge;
  private HttpClient client;
  private Map<String, String> traceContext = Map.of();

  /**
   * @param addressSource called once, on the first request; may block
   */
  public BridgeHttp(Supplier<BridgeTools.BridgeAddress> addressSource) {
    this.addressSource = addressSource;
  }

  /** Sends the context of a trace with all further requests. */
  void follow(Envelope trace) {
    traceContext = TraceContext.headers(trace.meta());
  }

  /** A response of a bridge, with a JSON body; a problem document (RFC 9457) if it refuses. */
  public record Response(int status, JsonNode body) {
    public boolean ok() {
      return status < 300;
    }

    /** Why the bridge refused the request. */
    String problem() {
      return body.path("detail").asText("The bridge answered " + status);
    }

    /** The body, for requests that no bridge should refuse. */
    JsonNode expected() {
      if (ok()) {
        return body;
      }
      throw new BridgeException(
          status == 401 ? ErrorCode.UNAUTHENTICATED : ErrorCode.UPSTREAM_ERROR,
          "The bridge refused: " + problem());
    }
  }

  JsonNode get(String path) throws InterruptedException {
    return exchange("GET", path, null).expected();
  }

  /**
   * Sends a request and waits for the response.
   *
   * @param json null for a request without a body
   * @throws BridgeException SERVER_UNAVAILABLE if the bridge is unreachable,
   *     UPSTREAM_PROTOCOL_ERROR if the response is not JSON
   */
  public Response exchange(String method, String path, String json) throws InterruptedException {
    bridge = bridge == null ? addressSource.get() : bridge;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(bridge + path))
            .method(
                method,
                json == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json));
    if (json != null) {
      request.header("content-type", "application/json");
    }
    traceContext.forEach(request::header);
    String credential = bridge.credential().get();
    if (credential != null) {
      request.header("authorization", "Bearer " + credential);
    }
    HttpResponse<byte[]> response = await(request.build());
    return new Response(response.statusCode(), json(response.body()));
  }

  private HttpResponse<byte[]> await(HttpRequest request) throws InterruptedException {
    CompletableFuture<HttpResponse<byte[]>> response =
        client().sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
    try {
      return response.get();
    } catch (InterruptedException e) {
      response.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      throw connectionError(bridge.url(), e.getCause());
    }
  }

  /** The error for a request to a bridge that failed without a response. */
  public static BridgeException connectionError(URI bridge, Throwable cause) {
    boolean isUnreachable =
        cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
    String why = cause.getMessage() == null ? "" : ": " + cause.getMessage();
    return new BridgeException(
        ErrorCode.SERVER_UNAVAILABLE,
        isUnreachable
            ? "There is no bridge at " + bridge + "; check the address, or run 'mcp-bridge serve'"
            : "The bridge at " + bridge + " closed the connection" + why);
  }

  /** Numbers keep every digit, since a human approves what is shown. */
  private JsonNode json(byte[] body) {
    try {
      return Json.exactTree(body);
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.UPSTREAM_PROTOCOL_ERROR,
          "The server at " + bridge + " is not a bridge; check the address");
    }
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
