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
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Between a client's pipes and the MCP door: each line is a POST, each message of an answer is a
 * line. A request that is cancelled in the stateless era is given up by closing its response. Where
 * no bridge answers, that is said on stderr, and the next line is tried again.
 *
 * <p>One thread reads stdin; answers are read on the HTTP client's threads and written one at a
 * time.
 */
final class StdioRelay {
  private static final int BUFFER = 16 << 10;
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();
  private final URI bridge;
  private final URI door;
  private final String key;
  private final PrintStream out;
  private final StatelessHeaders headers = new StatelessHeaders(this::fetch);
  private final Map<String, CompletableFuture<Void>> running = new ConcurrentHashMap<>();
  private final Map<String, InputStream> answers = new ConcurrentHashMap<>();
  private volatile String session;
  private volatile String version;
  private boolean isLost;

  /**
   * @param path of the door at the bridge
   * @param key null for a bridge without keys
   */
  StdioRelay(URI bridge, String path, String key, PrintStream out) {
    this.bridge = bridge;
    this.door = URI.create(bridge + path);
    this.key = key;
    this.out = out;
  }

  /**
   * Relays until stdin ends; what runs then gets ten seconds to be answered.
   *
   * @return whether the bridge was there to the end
   */
  boolean run(InputStream stdin) throws IOException {
    CompletableFuture<String> found = look();
    BufferedReader in = new BufferedReader(new InputStreamReader(stdin, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (!line.isBlank()) {
        take(line);
      }
    }
    CompletableFuture.allOf(running.values().toArray(CompletableFuture[]::new))
        .orTimeout(10, TimeUnit.SECONDS)
        .exceptionally(late -> null)
        .join();
    found.join();
    return end();
  }

  /** Looks before the first message comes, so that it is said at once where there is no bridge. */
  private CompletableFuture<String> look() {
    HttpRequest question =
        HttpRequest.newBuilder(URI.create(bridge + "/health/live")).timeout(PATIENCE).build();
    return http.sendAsync(question, HttpResponse.BodyHandlers.discarding())
        .handle((response, failed) -> failed == null ? null : heard(failed));
  }

  /** Ends the session, if there is one. */
  private boolean end() {
    if (session != null) {
      HttpRequest last = request().DELETE().timeout(PATIENCE).build();
      http.sendAsync(last, HttpResponse.BodyHandlers.discarding())
          .handle((response, failed) -> heard(failed))
          .join();
    }
    synchronized (this) {
      return !isLost;
    }
  }

  /**
   * Takes note of how a request has ended, and says once that a bridge does not answer.
   *
   * @param failed null where it was answered
   * @return what the client is told; null where it was answered
   */
  private synchronized String heard(Throwable failed) {
    if (failed == null) {
      isLost = false;
      return null;
    }
    Throwable cause = failed instanceof CompletionException ? failed.getCause() : failed;
    String sentence =
        (cause instanceof BridgeException refused ? refused : BridgeHttp.lost(bridge, cause))
            .getMessage();
    if (!isLost) {
      System.err.println(sentence);
    }
    isLost = true;
    return sentence;
  }

  private void take(String line) {
    JsonNode message;
    try {
      message = Json.tree(line);
    } catch (IOException e) {
      write(error("null", -32700, "not valid JSON"));
      return;
    }
    if (!message.isObject()) {
      write(error("null", -32600, "not one JSON-RPC message"));
      return;
    }
    String id = message.has("id") ? message.get("id").toString() : null;
    String method = message.path("method").asText("");
    if (method.equals("notifications/cancelled") && session == null) {
      giveUp(message.at("/params/requestId").toString());
      return;
    }
    CompletableFuture<Void> answered = post(line, message, id, method);
    if (method.equals("initialize") || method.equals("notifications/initialized")) {
      answered.exceptionally(failed -> null).join();
    }
    if (method.equals("notifications/initialized")) {
      listen();
    }
  }

  private void giveUp(String id) {
    CompletableFuture<Void> given = running.remove(id);
    if (given != null) {
      given.cancel(true);
    }
    InputStream answer = answers.remove(id);
    if (answer != null) {
      try {
        answer.close();
      } catch (IOException e) {
        // it was over already
      }
    }
  }

  private CompletableFuture<Void> post(String line, JsonNode message, String id, String method) {
    HttpRequest.Builder request = request().header("content-type", "application/json");
    headers.of(line, method).forEach(request::setHeader);
    CompletableFuture<HttpResponse<InputStream>> sent =
        http.sendAsync(
            request.POST(HttpRequest.BodyPublishers.ofString(line)).build(),
            HttpResponse.BodyHandlers.ofInputStream());
    CompletableFuture<Void> answered = new CompletableFuture<>();
    if (id != null) {
      running.put(id, answered);
    }
    answered.whenComplete((done, failed) -> sent.cancel(true));
    sent.thenAcceptAsync(response -> read(response, id, method))
        .whenComplete(
            (done, failed) -> {
              String sentence = answered.isCancelled() ? null : heard(failed);
              if (sentence != null && id != null) {
                write(error(id, -32603, sentence));
              }
              if (id != null) {
                running.remove(id);
                answers.remove(id);
              }
              answered.complete(null);
            });
    return answered;
  }

  /** The answer to a request of our own; an empty one where there is none. */
  private String fetch(String list) {
    HttpRequest.Builder request = request().header("content-type", "application/json");
    headers.of(list, McpMethod.TOOLS_LIST).forEach(request::setHeader);
    try {
      return http.send(
              request
                  .setHeader("accept", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(list))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      return "{}";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "{}";
    }
  }

  private void read(HttpResponse<InputStream> response, String id, String method) {
    String type = response.headers().firstValue("content-type").orElse("");
    if (id != null) {
      answers.put(id, response.body());
    }
    try (InputStream in = response.body()) {
      if (type.startsWith("text/event-stream")) {
        readEvents(in);
      } else if (type.startsWith("application/json")) {
        String body = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        if (method.equals("initialize")) {
          session = response.headers().firstValue("mcp-session-id").orElse(null);
          version =
              Json.tree(body).at("/result/protocolVersion").asText(ProtocolVersion.LATEST.date());
        }
        if (method.equals(McpMethod.TOOLS_LIST)) {
          headers.heard(body);
        }
        write(body);
      } else if (response.statusCode() >= 400 && id != null) {
        throw refused(response.statusCode());
      }
    } catch (IOException e) {
      if (id != null && running.containsKey(id)) {
        throw BridgeHttp.lost(bridge, e);
      }
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
            + (wantsKey ? "; put a key that it knows into MCP_BRIDGE_KEY" : ""));
  }

  private void readEvents(InputStream in) throws IOException {
    SseReader events = new SseReader(Integer.MAX_VALUE, event -> write(event.text()));
    byte[] buffer = new byte[BUFFER];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      events.feed(Arrays.copyOf(buffer, n));
    }
  }

  private void listen() {
    http.sendAsync(request().GET().build(), HttpResponse.BodyHandlers.ofInputStream())
        .thenAcceptAsync(response -> read(response, null, ""));
  }

  private HttpRequest.Builder request() {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(door).header("accept", "application/json, text/event-stream");
    if (key != null) {
      request.header("authorization", "Bearer " + key);
    }
    if (session != null) {
      request.header("mcp-session-id", session).header("mcp-protocol-version", version);
    }
    return request;
  }

  /** A message is one line; within JSON a line break is only ever a blank. */
  private void write(String message) {
    String joined = message.replace("\r", "").replace("\n", "").strip();
    byte[] line = (joined + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (out) {
      out.writeBytes(line);
      out.flush();
    }
  }

  private static String error(String id, int code, String message) {
    return new String(RpcWriter.error(JsonSlice.of(id), code, message), StandardCharsets.UTF_8);
  }
}
