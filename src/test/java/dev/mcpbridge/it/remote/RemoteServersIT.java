package dev.mcpbridge.it.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.CountedSocket;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Remote servers: another bridge, and servers that misbehave. */
@Tag("remote")
class RemoteServersIT {
  /** Starts a bridge in front of another one. */
  private static TestBridge inFrontOf(TestBridge behind, String keys) throws Exception {
    return TestBridge.of(
            "{'mcpServers':{'s':{'url':'" + behind.uri("/servers/s/mcp") + "'" + keys + "}}}")
        .awaitReady("s");
  }

  private static TestBridge legacy(Scripted server) {
    String config =
        "{'mcpServers':{'s':{'era':'legacy','heartbeat':0,'url':'" + server.url() + "'}}}";
    return TestBridge.of(config).awaitReady("s");
  }

  @ParameterizedTest
  @CsvSource({"legacy,2025-11-25", "modern,2026-07-28", "auto,2026-07-28"})
  void aChainOfTwoBridgesIsTransparent(String era, String revision) throws Exception {
    try (TestBridge behind = TestBridge.scripted("");
        TestBridge front = inFrontOf(behind, ",'era':'" + era + "'")) {
      assertEquals(revision, front.get("/servers/s").at("/protocol_version"));
      String odd = "{\"n\":12345678901234567890,\"d\":1.10,\"ü\":null}";
      assertTrue(front.call("echo", odd).text().contains(odd));
      assertTrue(front.get("/servers/s/tools").text().contains("\"x-unknown\":1.10"));
      assertEquals("x".repeat(300_000), front.call("big", "{\"size\":300000}").firstText());
      assertEquals(404, front.call("nothing", "{}").status());
      assertTrue(front.call("tool_error", "{}").body().path("isError").asBoolean());
      assertTrue(front.call("fail", "{}").text().contains("it broke"));
      assertEquals(
          "content of test://a b%25",
          front.get("/servers/s/resources/test%3A%2F%2Fa%20b%2525").at("/contents/0/text"));
      Answer streamed = front.call("progress", "{\"steps\":3}", "accept", "text/event-stream");
      assertTrue(streamed.text().contains("event: progress"), streamed.text());
      front.assertAlive();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void aTimedOutCallIsCancelledAtBothBridges(String era) throws Exception {
    try (TestBridge behind = TestBridge.scripted("");
        TestBridge front = inFrontOf(behind, ",'timeout':0.4,'era':'" + era + "'")) {
      AtomicInteger calls = new AtomicInteger();
      behind.until(
          () -> {
            calls.incrementAndGet();
            assertEquals(504, front.call("never", "{}").status());
            return !behind.call("cancels", "{}").firstText().equals("0");
          });

      int cancels = Integer.parseInt(behind.call("cancels", "{}").firstText());
      assertTrue(cancels <= calls.get(), cancels + " of " + calls);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void timedOutCallsReleaseTheirConnections(String era) throws Exception {
    try (TestBridge behind = TestBridge.scripted("'maxInFlight':1000");
        TestBridge front =
            inFrontOf(
                behind,
                ",'maxInFlight':1000,'tools':{'never':{'timeout':0.5}},'era':'" + era + "'")) {
      for (int round = 0; round < 4; round++) {
        List<CompletableFuture<Answer>> calls =
            Stream.generate(() -> front.callLater("never", "{}")).limit(100).toList();
        for (CompletableFuture<Answer> call : calls) {
          assertEquals(504, call.get(30, TimeUnit.SECONDS).status());
        }
      }
      front.assertAlive();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void listChangesArePassedOn(String era) throws Exception {
    try (TestBridge behind = TestBridge.scripted("");
        TestBridge front = inFrontOf(behind, ",'era':'" + era + "'")) {
      int tools = front.get("/servers/s/tools").body().path("tools").size();

      front.until(
          () -> {
            behind.call("grow", "{}");
            return front.get("/servers/s/tools").body().path("tools").size() > tools;
          });
    }
  }

  @ParameterizedTest
  @CsvSource({"legacy,legacy", "legacy,modern", "modern,legacy", "modern,modern"})
  void anElicitationIsPassedThroughBothBridges(String client, String between) throws Exception {
    try (TestBridge behind = TestBridge.scripted("");
        TestBridge front = inFrontOf(behind, ",'era':'" + between + "'")) {
      McpClient mcpClient =
          new McpClient(front.uri("/servers/s/mcp"), "{\"elicitation\":{}}")
              .withRequestHandler(request -> "{\"action\":\"accept\",\"content\":{\"a\":1}}");
      String ask = "{\"method\":\"elicitation/create\"}";
      Reply reply;
      if (client.equals("legacy")) {
        mcpClient.initialize();
        reply = mcpClient.call("ask", ask);
      } else {
        String call = "\"name\":\"ask\",\"arguments\":" + ask;
        var inputRequired = mcpClient.stateless("tools/call", call).result();
        assertEquals("input_required", inputRequired.path("resultType").asText());
        reply =
            mcpClient.stateless(
                "tools/call",
                call
                    + ",\"requestState\":\""
                    + inputRequired.path("requestState").asText()
                    + "\",\"inputResponses\":{\"input\":{\"action\":\"accept\","
                    + "\"content\":{\"a\":1}}}");
      }
      assertEquals("result {\"action\":\"accept\",\"content\":{\"a\":1}}", reply.firstText());
    }
  }

  @Test
  void httpSseIsServedAndUsed() throws Exception {
    try (TestBridge behind = TestBridge.scripted("");
        TestBridge front =
            TestBridge.of(
                    "{'mcpServers':{'s':{'type':'sse','url':'%s'},'all':{'url':'%s'}}}"
                        .formatted(behind.uri("/servers/s/sse"), behind.uri("/sse")))
                .awaitReady("s", "all")) {

      assertEquals("x".repeat(100_000), front.call("big", "{\"size\":100000}").firstText());
      assertEquals("slept", front.post("/servers/all/tools/s__sleep", "{\"ms\":10}").firstText());
      Answer streamed = front.call("progress", "{\"steps\":3}", "accept", "text/event-stream");
      assertTrue(streamed.text().contains("event: progress"), streamed.text());
      assertEquals(400, behind.post("/sse", "{}").status());
      assertEquals(
          404,
          behind
              .post("/sse?sessionId=x", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")
              .status());
      assertEquals(406, behind.get("/sse", "accept", "application/json").status());
    }
  }

  @Test
  void anExpiredSessionIsReopenedAndTheCallIsRepeated() throws Exception {
    int port = FreePorts.find(1).get(0);
    String config =
        "{'http':{'port':" + port + "},'mcpServers':{'s':" + TestBridge.entry("") + "}}";
    TestBridge behind = TestBridge.at(port, config).awaitReady("s");
    try (TestBridge front = inFrontOf(behind, ",'era':'legacy','heartbeat':0")) {
      assertEquals(200, front.call("echo", "{}").status());
      behind.close();
      TestBridge again = TestBridge.at(port, config);
      try (again) {
        again.awaitReady("s");

        assertEquals(
            "expired", front.call("echo", "{\"m\":\"expired\"}").at("/structuredContent/m"));
      }
      front.until(() -> front.call("echo", "{}").status() >= 500);
      Answer gone = front.call("echo", "{}");
      assertEquals("no", gone.at("/executed"), gone.text());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 303, 307, 308})
  void redirectsOfAServerAreNotFollowed(int status) throws Exception {
    try (CountedSocket elsewhere = new CountedSocket()) {
      String redirect = "HTTP " + status + " http://127.0.0.1:" + elsewhere.port() + "/mcp";
      try (Scripted fromTheStart = new Scripted((headers, body) -> redirect);
          TestBridge bridge =
              TestBridge.of("{'mcpServers':{'s':{'url':'" + fromTheStart.url() + "'}}}")) {
        bridge.until(() -> bridge.state("s").equals("failed"));
        String error = bridge.get("/servers/s").at("/last_error");
        assertTrue(error.contains(Integer.toString(status)), error);
      }
      try (Scripted calls = Scripted.calls(body -> redirect);
          TestBridge bridge = legacy(calls)) {
        assertEquals(502, bridge.call("t", "{}").status());
      }
      assertEquals(0, elsewhere.connections());
    }
  }

  @Test
  void credentialsAreSentOnlyInTheConfiguredHeaders() throws Exception {
    CompletableFuture<String> authorization = new CompletableFuture<>();
    try (Scripted server =
        new Scripted(
            (headers, body) -> {
              authorization.complete(headers);
              return "HTTP 401";
            })) {
      try (TestBridge bridge =
          TestBridge.of(
              "{'mcpServers':{'s':{'url':'"
                  + server.url()
                  + "','headers':{'Authorization':'Bearer hush-hush'}}}}")) {
        assertEquals("Bearer hush-hush", authorization.get(10, TimeUnit.SECONDS));
        bridge.until(() -> bridge.state("s").equals("failed"));
        Answer view = bridge.get("/servers/s");
        assertTrue(view.at("/last_error").contains("401"), view.text());
        assertTrue(!view.text().contains("hush-hush"));
      }
    }
  }

  @Test
  void anInvalidOrTruncatedResponseFailsOnlyItsCall() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    try (Scripted server =
            Scripted.calls(
                body -> {
                  return switch (calls.getAndIncrement()) {
                    case 0 -> "this is no JSON";
                    case 1 -> "HTTP 500";
                    case 2 -> "HTTP 429";
                    case 3 -> "event: message\ndata: {\"jsonrpc\":\"2.0\",\"meth";
                    default ->
                        "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":"
                            + id(body)
                            + ",\"result\":{\"content\":[]}}\r\n\r\n";
                  };
                });
        TestBridge bridge = legacy(server)) {

      assertEquals(502, bridge.call("t", "{}").status());
      Answer broken = bridge.call("t", "{}");
      assertEquals(502, broken.status());
      assertEquals("unknown", broken.at("/executed"), broken.text());
      Answer later = bridge.call("t", "{}");
      assertEquals(429, later.status());
      assertEquals("1", later.header("retry-after"));
      assertEquals(502, bridge.call("t", "{}").status());
      assertEquals(200, bridge.call("t", "{}").status());
      assertEquals(0, bridge.get("/servers/s").body().path("restarts").asInt());
    }
  }

  @Test
  void anOversizedResponseFailsOnlyItsCall() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    String tooLong = "\"" + "x".repeat(17 << 20) + "\"";
    try (Scripted server =
            Scripted.calls(
                body -> {
                  String head =
                      "{\"jsonrpc\":\"2.0\",\"id\":" + id(body) + ",\"result\":{\"content\":[";
                  return switch (calls.getAndIncrement()) {
                    case 0 -> head + tooLong + "]}}";
                    case 1 -> "event: message\ndata: " + head + tooLong + "]}}\n\n";
                    default -> head + "]}}";
                  };
                });
        TestBridge bridge = legacy(server)) {

      for (int i = 0; i < 2; i++) {
        Answer answer = bridge.call("t", "{}");
        assertEquals(502, answer.status());
        assertEquals("response_too_large", answer.code());
        assertEquals("yes", answer.at("/executed"));
      }
      assertEquals(200, bridge.call("t", "{}").status());
      assertEquals(0, bridge.get("/servers/s").body().path("restarts").asInt());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "sse"})
  void theHandshakeWithASilentServerTimesOut(String type) throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        TestBridge bridge =
            TestBridge.of(
                "{'mcpServers':{'s':{'startTimeout':1,'type':'"
                    + type
                    + "','url':'http://127.0.0.1:"
                    + silent.getLocalPort()
                    + "/mcp'}}}")) {
      bridge.until(() -> bridge.state("s").equals("failed"));

      Answer refused = bridge.call("t", "{}");
      assertTrue(refused.status() >= 500, refused.text());
      assertEquals("no", refused.at("/executed"), refused.text());
    }
  }

  @Test
  void anUnresolvableHostIsReportedAndNothingIsExecuted() throws Exception {
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'s':{'url':'http://unknown.invalid/mcp'}}}")) {
      bridge.until(() -> bridge.state("s").equals("failed"));

      Answer refused = bridge.call("t", "{}");
      assertTrue(refused.status() == 502 || refused.status() == 503, refused.text());
      assertEquals("no", refused.at("/executed"), refused.text());
      assertTrue(bridge.get("/servers/s").at("/last_error").contains("unknown.invalid"));
    }
  }

  @Test
  void aCallIsNotRepeatedAfterA400() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    try (Scripted server =
            Scripted.calls(
                body -> {
                  calls.incrementAndGet();
                  return "HTTP 400";
                });
        TestBridge bridge = legacy(server)) {

      assertEquals(502, bridge.call("t", "{}").status());
      assertEquals(1, calls.get());
      assertEquals(0, bridge.get("/servers/s").body().path("restarts").asInt());
    }
  }

  @Test
  void aCallWhoseSessionExpiresDuringAStopFails() throws Exception {
    CompletableFuture<Void> called = new CompletableFuture<>();
    CompletableFuture<Void> expired = new CompletableFuture<>();
    try (Scripted server =
            Scripted.calls(
                body -> {
                  called.complete(null);
                  expired.join();
                  return "HTTP 404";
                });
        TestBridge bridge = legacy(server)) {
      CompletableFuture<Answer> call = bridge.callLater("t", "{}");
      called.get(20, TimeUnit.SECONDS);
      CompletableFuture<Answer> stopped = Background.call(() -> bridge.delete("/servers/s"));
      bridge.until(() -> bridge.state("s").equals("draining"));

      expired.complete(null);

      Answer answer = call.get(20, TimeUnit.SECONDS);
      assertEquals(503, answer.status(), answer.toString());
      assertEquals("no", answer.at("/executed"));
      assertEquals(200, stopped.get(20, TimeUnit.SECONDS).status());
    }
  }

  @Test
  void anEndpointOfAnotherOriginIsRejected() throws Exception {
    AtomicInteger posts = new AtomicInteger();
    try (Scripted foreign =
            new Scripted(
                (headers, body) -> {
                  posts.incrementAndGet();
                  return "HTTP 202";
                });
        Scripted server =
            new Scripted(
                (headers, body) ->
                    "event: endpoint\ndata: " + foreign.url() + "?sessionId=1\n\n")) {
      try (TestBridge bridge =
          TestBridge.of("{'mcpServers':{'s':{'type':'sse','url':'" + server.url() + "'}}}")) {
        bridge.until(() -> bridge.state("s").equals("failed"));
        assertTrue(bridge.get("/servers/s").at("/last_error").contains("origin"));
        assertEquals(0, posts.get());
      }
    }
  }

  /** The responses of a server with one tool until it is called. */
  private static String handshake(String body) {
    String head = "{\"jsonrpc\":\"2.0\",\"id\":" + id(body) + ",\"result\":";
    if (body.contains("\"initialize\"")) {
      return head
          + "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
          + "\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}";
    }
    return body.contains("tools/list")
        ? head + "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}}"
        : "HTTP 202";
  }

  private static String id(String body) {
    return body.replaceAll("(?s).*\"id\":(\\d+).*", "$1");
  }

  /**
   * A server with scripted responses: a status, perhaps with the address of a redirect, JSON, or
   * the text of an event stream.
   */
  private static final class Scripted implements AutoCloseable {
    private final HttpServer server;

    /** Maps the Authorization header and the body to the response. */
    interface Script {
      String answer(String authorization, String body);
    }

    Scripted(Script script) throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext(
          "/",
          exchange -> {
            String body =
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String response =
                exchange.getRequestMethod().equals("GET") && !body.isEmpty()
                    ? "HTTP 405"
                    : script.answer(exchange.getRequestHeaders().getFirst("authorization"), body);
            if (response.startsWith("HTTP ")) {
              String[] parts = response.split(" ");
              if (parts.length > 2) {
                exchange.getResponseHeaders().set("location", parts[2]);
              }
              exchange.sendResponseHeaders(Integer.parseInt(parts[1]), -1);
            } else {
              byte[] bytes = response.getBytes(StandardCharsets.UTF_8);
              exchange
                  .getResponseHeaders()
                  .set(
                      "content-type",
                      response.startsWith("event:") ? "text/event-stream" : "application/json");
              exchange.getResponseHeaders().set("mcp-session-id", "x");
              exchange.sendResponseHeaders(200, bytes.length);
              exchange.getResponseBody().write(bytes);
            }
            exchange.close();
          });
      server.start();
    }

    /** A server with one tool, whose calls are scripted; its session id is x. */
    static Scripted calls(UnaryOperator<String> call) throws IOException {
      return new Scripted(
          (headers, body) -> body.contains("tools/call") ? call.apply(body) : handshake(body));
    }

    String url() {
      return "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp";
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }
}
