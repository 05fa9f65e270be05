package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.protocol.RpcWriter;
import dev.mcpbridge.protocol.SseReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Relays between a client's pipes and the MCP endpoint of a bridge. Each line becomes a POST; each
 * message of a response becomes a line. In the stateless era, a request is cancelled by closing its
 * response. If the bridge is unreachable, an error is printed to stderr and the next line is tried
 * again.
 *
 * <p>One thread reads stdin. Responses are read on the HTTP client's threads; writes to stdout are
 * serialized.
 */
final class StdioRelay {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();
  private final URI bridge;
  private final URI endpoint;
  private final Supplier<String> credential;
  private final PrintStream out;
  private final StatelessHeaders headers = new StatelessHeaders(this::fetch);
  private final Map<String, CompletableFuture<Void>> pending = new ConcurrentHashMap<>();
  private volatile String session;
  private volatile String version;
  private boolean isUnreachable;

  /**
   * @param path the path of the MCP endpoint
   * @param credential an API key or an access token, for each request; null for none
   */
  StdioRelay(URI bridge, String path, Supplier<String> credential, PrintStream out) {
    this.bridge = bridge;
    this.endpoint = URI.create(bridge + path);
    this.credential = credential;
    this.out = out;
  }

  /**
   * Relays until stdin ends, then waits up to ten seconds for pending responses.
   *
   * @return whether the bridge was reachable to the end
   */
  boolean run(InputStream stdin) throws IOException {
    CompletableFuture<String> probed = probe();
    BufferedReader in = new BufferedReader(new InputStreamReader(stdin, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (!line.isBlank()) {
        relay(line);
      }
    }
    CompletableFuture.allOf(pending.values().toArray(CompletableFuture[]::new))
        .orTimeout(10, TimeUnit.SECONDS)
        .exceptionally(late -> null)
        .join();
    probed.join();
    return end();
  }

  /** Probes before the first message, so that an unreachable bridge is reported at once. */
  private CompletableFuture<String> probe() {
    HttpRequest question =
        HttpRequest.newBuilder(URI.create(bridge + "/health/live")).timeout(TIMEOUT).build();
    return http.sendAsync(question, HttpResponse.BodyHandlers.discarding())
        .handle((response, failed) -> failed == null ? null : recordOutcome(failed));
  }

  /** Ends the session if there is one. Returns whether the bridge is reachable. */
  private boolean end() {
    if (session != null) {
      send(() -> request().DELETE().timeout(TIMEOUT).build())
          .handle((response, failed) -> recordOutcome(failed))
          .join();
    }
    synchronized (this) {
      return !isUnreachable;
    }
  }

  /**
   * Records the outcome of a request. The first failure in a row is printed to stderr.
   *
   * @param failed null if the request was answered
   * @return the error message for the client; null if the request was answered
   */
  private synchronized String recordOutcome(Throwable failed) {
    if (failed == null) {
      isUnreachable = false;
      return null;
    }
    Throwable cause = failed instanceof CompletionException ? failed.getCause() : failed;
    String errorText =
        (cause instanceof BridgeException refused
                ? refused
                : BridgeHttp.connectionError(bridge, cause))
            .getMessage();
    if (!isUnreachable) {
      System.err.println(errorText);
    }
    isUnreachable = true;
    return errorText;
  }

  private void relay(String line) {
    JsonNode message;
    try {
      message = Json.tree(line);
    } catch (IOException e) {
      write(error("null", -32700, "not valid JSON"));
      return;
    }
    if (!message.isObject()) {
      write(error("null", -32600, "not a JSON-RPC message"));
      return;
    }
    String id = message.has("id") ? message.get("id").toString() : null;
    String method = message.path("method").asText("");
    if (method.equals("notifications/cancelled") && session == null) {
      cancel(message.at("/params/requestId").toString());
      return;
    }
    CompletableFuture<Void> answered = post(line, id, method);
    if (method.equals("initialize") || method.equals("notifications/initialized")) {
      answered.exceptionally(failed -> null).join();
    }
    if (method.equals("notifications/initialized")) {
      listen();
    }
  }

  private void cancel(String id) {
    CompletableFuture<Void> future = pending.remove(id);
    if (future != null) {
      future.cancel(true);
    }
  }

  private CompletableFuture<Void> post(String line, String id, String method) {
    CompletableFuture<HttpResponse<String>> sent = send(() -> posting(line, method).build());
    CompletableFuture<Void> answered = new CompletableFuture<>();
    if (id != null) {
      pending.put(id, answered);
    }
    answered.whenComplete((done, failed) -> sent.cancel(true));
    sent.thenAccept(response -> read(response, id, method))
        .whenComplete(
            (done, failed) -> {
              String errorText = answered.isCancelled() ? null : recordOutcome(failed);
              if (errorText != null && id != null) {
                write(error(id, -32603, errorText));
              }
              if (id != null) {
                pending.remove(id);
              }
              answered.complete(null);
            });
    return answered;
  }

  /** Sends a request of the relay itself. Returns an empty object if it fails. */
  private String fetch(String list) {
    return send(() ->
            posting(list, McpMethod.TOOLS_LIST).setHeader("accept", "application/json").build())
        .handle((response, failed) -> failed == null ? response.body() : "{}")
        .join();
  }

  /** Writes the messages of an event stream as they arrive; collects any other body. */
  private HttpResponse.BodySubscriber<String> body(HttpResponse.ResponseInfo response) {
    if (!type(response.headers()).startsWith("text/event-stream")) {
      return HttpResponse.BodySubscribers.ofString(StandardCharsets.UTF_8);
    }
    SseReader events = new SseReader(Integer.MAX_VALUE, event -> write(event.text()));
    return HttpResponse.BodySubscribers.mapping(
        HttpResponse.BodySubscribers.ofByteArrayConsumer(bytes -> bytes.ifPresent(events::feed)),
        end -> "");
  }

  private static String type(HttpHeaders headers) {
    return headers.firstValue("content-type").orElse("");
  }

  private void read(HttpResponse<String> response, String id, String method) {
    if (type(response.headers()).startsWith("application/json")) {
      if (method.equals("initialize")) {
        session = response.headers().firstValue("mcp-session-id").orElse(null);
        version = version(response.body());
      }
      if (method.equals(McpMethod.TOOLS_LIST)) {
        headers.readToolList(response.body());
      }
      write(response.body());
    } else if (response.statusCode() >= 400 && id != null) {
      throw refused(response.statusCode());
    }
  }

  private static String version(String answer) {
    String latest = ProtocolVersion.LATEST.date();
    try {
      return Json.tree(answer).at("/result/protocolVersion").asText(latest);
    } catch (IOException e) {
      return latest;
    }
  }

  private BridgeException refused(int status) {
    boolean wantsKey = status == ErrorCode.UNAUTHENTICATED.status();
    return new BridgeException(
        wantsKey ? ErrorCode.UNAUTHENTICATED : ErrorCode.UPSTREAM_ERROR,
        "The bridge at "
            + bridge
            + " answered HTTP "
            + status
            + (wantsKey ? "; set MCP_BRIDGE_KEY to a valid key, or run mcp-bridge login" : ""));
  }

  private void listen() {
    send(() -> request().GET().build());
  }

  /** Fails if the login has ended. */
  private CompletableFuture<HttpResponse<String>> send(Supplier<HttpRequest> request) {
    try {
      return http.sendAsync(request.get(), this::body);
    } catch (BridgeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private HttpRequest.Builder posting(String line, String method) {
    HttpRequest.Builder request = request().header("content-type", "application/json");
    headers.of(line, method).forEach(request::setHeader);
    return request.POST(HttpRequest.BodyPublishers.ofString(line));
  }

  private HttpRequest.Builder request() {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint).header("accept", "application/json, text/event-stream");
    String sent = credential.get();
    if (sent != null) {
      request.header("authorization", "Bearer " + sent);
    }
    if (session != null) {
      request.header("mcp-session-id", session).header("mcp-protocol-version", version);
    }
    return request;
  }

  /** Writes a message as one line. Line breaks in JSON are insignificant whitespace. */
  private void write(String message) {
    String joined = message.replace("\r", "").replace("\n", "").strip();
    byte[] line = (joined + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (out) {
      out.writeBytes(line);
      out.flush();
    }
  }

  private static String error(String id, int code, String message) {
    return RpcWriter.error(JsonSlice.of(id), code, message).toSlice().text();
  }
}
