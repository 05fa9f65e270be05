package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.GrpcServer;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.ScriptedServer;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.SpanReceiver.Received;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The spans of calls, as a collector receives them. */
@Tag("rest")
class TracesIT {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final String OTHER_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String OTHER = "00-" + OTHER_TRACE + "-00f067aa0ba902b7-01";

  private SpanReceiver collector;
  private TestBridge bridge;

  @BeforeAll
  static void sendSoon() {
    System.setProperty("otel.bsp.schedule.delay", "20");
  }

  @AfterAll
  static void reset() {
    System.clearProperty("otel.bsp.schedule.delay");
  }

  @BeforeEach
  void start() throws Exception {
    collector = new SpanReceiver();
  }

  @AfterEach
  void stop() throws Exception {
    if (bridge != null) {
      bridge.close();
    }
    collector.close();
  }

  private void start(String telemetry, String keys, String... modes) {
    bridge =
        TestBridge.of(
                "{" + telemetry + ",'mcpServers':{'s':" + TestBridge.entry(keys, modes) + "}}")
            .awaitReady("s");
  }

  private Received span(Predicate<Received> fits) throws Exception {
    return collector.await(bridge, fits);
  }

  /** Calls a tool in the stateless era with a trace context in {@code _meta}. */
  private McpClient.Reply stateless(String traceparent, String... headers) throws Exception {
    return new McpClient(bridge.uri("/mcp"), "{}", headers)
        .stateless(
            "tools/call",
            "\"name\":\"s__echo\",\"arguments\":{}",
            "\"traceparent\":\"" + traceparent + "\"");
  }

  private static Predicate<Received> named(String name, String kind) {
    return span -> span.name().equals(name) && span.kind().equals(kind);
  }

  private static String parentOf(String traceparent) {
    assertTrue(traceparent.matches("00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-9]"), traceparent);
    return traceparent.substring(36, 52);
  }

  @Test
  void aCallOverRestIsOneTraceFromTheDoorToTheChild() throws Exception {
    // Given
    start(collector.everything(), "", "--meta");

    // When
    Answer answer = bridge.call("echo", "{}", "traceparent", PARENT, "tracestate", "a=b");

    // Then
    Received door = span(named("POST /servers/{server}/tools/{tool}", "SERVER"));
    Received gate = span(named("gate", "INTERNAL"));
    Received upstream = span(named("tools/call echo", "CLIENT"));
    assertEquals(
        List.of(TRACE, TRACE, TRACE), List.of(door.trace(), gate.trace(), upstream.trace()));
    assertEquals("b7ad6b7169203331", door.parent());
    assertEquals(door.id(), gate.parent());
    assertEquals(door.id(), upstream.parent());
    assertEquals(upstream.id(), parentOf(answer.at("/structuredContent/traceparent")));
    assertEquals("a=b", answer.at("/structuredContent/tracestate"));
    assertEquals("200", door.get("http.response.status_code"));
    assertEquals("/servers/s/tools/echo", door.get("url.path"));
    assertEquals("allow", gate.get("mcp_bridge.gate"));
    assertEquals("s", upstream.get("mcp_bridge.server"));
    assertEquals("echo", upstream.get("gen_ai.tool.name"));
    assertEquals("execute_tool", upstream.get("gen_ai.operation.name"));
    assertEquals("pipe", upstream.get("network.transport"));
    assertEquals("mcp-bridge", door.resource().get("service.name"));
    assertTrue(door.startNanos() <= gate.startNanos() + 2_000_000, door + " " + gate);
    assertTrue(upstream.endNanos() <= door.endNanos() + 2_000_000, upstream + " " + door);
    assertEquals("Bearer a=b, c", collector.authorizations().get(0));
  }

  /** The calls of all doors: each has a trace of its own, to which its server adds a span. */
  @Test
  void spanOfTheServersProcessIsInTheTraceOfItsCall() throws Exception {
    String entry = "{'command':'%s','args':['-cp','%s','%s','--spans','%s']}";
    bridge =
        collector.bridge(
            entry.formatted(
                TestBridge.java(),
                System.getProperty("java.class.path"),
                ScriptedServer.class.getName(),
                collector.url()));

    bridge.call("answers", "{}");
    new McpClient(bridge.uri("/mcp"), "{}")
        .stateless("tools/call", "\"name\":\"s__cancels\",\"arguments\":{}");
    new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized().call("progress", "{}");
    bridge.post(
        "/toolcall",
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
            + "\"function\":{\"name\":\"s__echo\",\"arguments\":\"{}\"}}]}");

    for (String tool : List.of("answers", "cancels", "progress", "echo")) {
      Received run = span(named("run " + tool, "SERVER"));
      Received upstream = span(named("tools/call " + tool, "CLIENT"));
      Received door = span(span -> span.id().equals(upstream.parent()));
      assertEquals(upstream.id(), run.parent(), run + " " + upstream);
      assertEquals(List.of(door.trace(), door.trace()), List.of(upstream.trace(), run.trace()));
    }
  }

  @Test
  void aCallThatWaitsHasASpanForItsQueue() throws Exception {
    start(collector.everything(), "'maxInFlight':1");

    CompletableFuture<Answer> first = bridge.callLater("sleep", "{\"ms\":500}");
    bridge.until(() -> bridge.get("/servers/s").at("/pending_calls").equals("1"));
    assertEquals(200, bridge.call("echo", "{}", "traceparent", PARENT).status());
    first.get();

    Received queue = span(named("queue", "INTERNAL"));
    Received door = span(span -> span.kind().equals("SERVER") && span.trace().equals(TRACE));
    assertEquals(TRACE, queue.trace());
    assertEquals(door.id(), queue.parent());
    assertTrue(queue.endNanos() - queue.startNanos() > 10_000_000, queue.toString());
  }

  @Test
  void aRequestOfTheStatelessEraHasTheContextOfItsMetaAsParentAndItsCarrierAsLink()
      throws Exception {
    // Given
    start(collector.everything(), "", "--meta");

    // When
    McpClient.Reply reply = stateless(PARENT, "traceparent", OTHER);

    // Then
    Received request = span(named("tools/call s__echo", "SERVER"));
    Received http = span(named("POST /mcp", "SERVER"));
    Received upstream = span(named("tools/call echo", "CLIENT"));
    assertEquals(TRACE, request.trace());
    assertEquals("b7ad6b7169203331", request.parent());
    assertEquals(List.of(http.id()), request.links());
    assertEquals(OTHER_TRACE, http.trace());
    assertEquals("00f067aa0ba902b7", http.parent());
    assertEquals(request.id(), upstream.parent());
    assertEquals(upstream.id(), parentOf(reply.at("/structuredContent/traceparent")));
    assertEquals("2026-07-28", request.get("mcp.protocol.version"));
    assertEquals("tools/call", request.get("mcp.method.name"));
  }

  @Test
  void aRequestOfASessionIsAChildOfItsHttpRequest() throws Exception {
    start(collector.everything(), "", "--meta");
    McpClient client =
        new McpClient(bridge.uri("/servers/s/mcp"), "{}", "traceparent", PARENT).initialized();

    McpClient.Reply reply = client.call("tool_error", "{}");

    assertTrue(reply.result().path("isError").asBoolean());
    Received request = span(named("tools/call tool_error", "SERVER"));
    Received upstream = span(named("tools/call tool_error", "CLIENT"));
    Received http = span(span -> span.id().equals(request.parent()));
    assertEquals("POST /servers/{server}/mcp", http.name());
    assertEquals("b7ad6b7169203331", http.parent());
    assertEquals(request.id(), upstream.parent());
    assertEquals("tool_error", request.get("error.type"));
    assertEquals("tool_error", upstream.get("error.type"));
    assertTrue(upstream.isError());
    assertFalse(http.isError());
  }

  @Test
  void theSameContextInHeaderAndMetaMakesOneTrace() throws Exception {
    start(collector.everything(), "", "--meta");
    stateless(PARENT, "traceparent", PARENT);

    Received request = span(named("tools/call s__echo", "SERVER"));
    Received http = span(named("POST /mcp", "SERVER"));
    assertEquals(http.id(), request.parent());
    assertEquals(List.of(), request.links());
  }

  @Test
  void theCallsOfAModelAreChildrenOfTheirTurn() throws Exception {
    start(collector.everything(), "");

    Answer answer =
        bridge.post(
            "/toolcall",
            "{\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":"
                + "\"s__echo\",\"arguments\":\"{}\"}},{\"id\":\"2\",\"type\":\"function\","
                + "\"function\":{\"name\":\"s__echo\",\"arguments\":\"{}\"}}]}",
            "traceparent",
            PARENT);

    assertEquals(200, answer.status(), answer.toString());
    Received turn = span(named("POST /toolcall", "SERVER"));
    bridge.until(() -> collector.trace(TRACE).size() == 5);
    assertEquals(
        4, collector.trace(TRACE).stream().filter(s -> s.parent().equals(turn.id())).count());
  }

  @Test
  void aRefusedCallHasItsCodeAndItsTraceInTheProblem() throws Exception {
    start(collector.everything(), "");

    Answer answer = bridge.call("no_such_tool", "{}", "traceparent", PARENT);

    assertEquals(404, answer.status());
    assertEquals(TRACE, answer.at("/traceId"));
    String stream =
        bridge
            .call("no_such_tool", "{}", "traceparent", OTHER, "accept", "text/event-stream")
            .text();
    assertTrue(stream.contains("\"traceId\":\"" + OTHER_TRACE + "\""), stream);
    String batch = "{\"calls\":[{\"server\":\"s\",\"tool\":\"no_such_tool\"}]}";
    assertEquals(
        OTHER_TRACE,
        bridge.post("/batch", batch, "traceparent", OTHER).at("/results/0/body/traceId"));
    String turn =
        "{\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":"
            + "\"no_such_tool\",\"arguments\":\"{}\"}}]}";
    assertEquals(
        OTHER_TRACE,
        bridge
            .post("/toolcall", turn, "traceparent", OTHER)
            .at("/tool_responses/0/problem/traceId"));
    Received gate = span(named("gate", "INTERNAL").and(s -> s.trace().equals(TRACE)));
    assertEquals("refuse", gate.get("mcp_bridge.gate"));
    assertEquals("tool_not_found", gate.get("error.type"));
    assertEquals("no", gate.get("mcp_bridge.executed"));
    assertFalse(span(span -> span.id().equals(gate.parent())).isError(), "404 is the client's");
  }

  @Test
  void anApprovedCallBelongsToTheTraceOfItsRequest() throws Exception {
    start(collector.everything(), "'riskLevel':2", "--meta");

    Answer held = bridge.call("echo", "{}", "traceparent", PARENT);
    bridge.post(
        "/confirmations/" + held.at("/confirmation_id"),
        "{\"confirm\":true,\"token\":\"" + held.at("/token") + "\"}");

    Received upstream = span(named("tools/call echo", "CLIENT"));
    assertEquals(TRACE, upstream.trace());
    List<Received> gates =
        collector.trace(TRACE).stream().filter(s -> s.name().equals("gate")).toList();
    assertEquals(
        List.of("confirm", "allow"), gates.stream().map(s -> s.get("mcp_bridge.gate")).toList());
  }

  @Test
  void callersCannotSwitchRecordingOnBeyondTheRate() throws Exception {
    start(collector.telemetry("'sample':0,'maxSampledPerSecond':0"), "", "--meta");

    Answer asked = bridge.call("echo", "{}", "traceparent", PARENT);
    Answer unasked = bridge.call("echo", "{\"n\":1}");

    assertEquals(
        "00-" + TRACE + "-b7ad6b7169203331-00", asked.at("/structuredContent/traceparent"));
    assertEquals("{}", unasked.body().path("structuredContent").toString());
    String zero = "00-" + "0".repeat(32) + "-b7ad6b7169203331-01";
    for (String invalid : List.of("x", zero, "ff" + PARENT.substring(2), "")) {
      bridge.call("echo", "{}", "traceparent", invalid);
      stateless(invalid);
    }
    bridge.call("echo", "{}");
    assertEquals(List.of(), collector.spans());
  }

  @Test
  void aContextThatIsNotRecordedIsPassedOnUnchanged() throws Exception {
    start(collector.everything(), "", "--meta");
    String parent = "00-" + TRACE + "-b7ad6b7169203331-00";

    assertEquals(
        parent,
        bridge.call("echo", "{}", "traceparent", parent).at("/structuredContent/traceparent"));
    assertEquals(List.of(), collector.trace(TRACE));
  }

  @Test
  void namesAndPathsThatCallersChooseAreNotInSpans() throws Exception {
    start(collector.everything(), "");
    McpClient client = new McpClient(bridge.uri("/mcp"), "{}", "traceparent", PARENT).initialized();

    client.request("x".repeat(10_000), "{}");
    bridge.get("/calls/secret", "traceparent", PARENT);
    bridge.get("/connect/secret", "traceparent", PARENT);

    Received unknown = span(named("unknown", "SERVER"));
    assertEquals("unknown", unknown.get("mcp.method.name"));
    Received lookup = span(named("GET /calls/{call}", "SERVER"));
    assertNull(lookup.get("url.path"));
    assertFalse(collector.spans().toString().contains("secret"));
    assertFalse(collector.spans().toString().contains("/connect"));
  }

  @Test
  void withoutAnEndpointTheContextIsPassedOnAsItIs() throws Exception {
    start("'telemetry':{'sample':1}", "", "--meta");

    McpClient.Reply reply = stateless(PARENT);

    assertEquals(PARENT, reply.at("/structuredContent/traceparent"));
    Answer answer = bridge.call("echo", "{}", "traceparent", PARENT, "tracestate", "a=b");
    assertEquals(PARENT, answer.at("/structuredContent/traceparent"), answer.toString());
    assertEquals("a=b", answer.at("/structuredContent/tracestate"));
    McpClient.Reply carried =
        new McpClient(bridge.uri("/mcp"), "{}")
            .stateless(
                "tools/call",
                "\"name\":\"s__echo\",\"arguments\":{}",
                "\"baggage\":\"user=ann\",\"acme/tenant\":\"t\"");
    assertEquals("t", carried.at("/structuredContent/acme~1tenant"), carried.text());
    assertFalse(carried.text().contains("ann"), carried.text());
    Answer invalid = bridge.call("echo", "{}", "traceparent", "00-1-2-01", "tracestate", "a=b");
    assertFalse(invalid.text().contains("trace"), invalid.toString());
    Answer failed = bridge.call("no_such_tool", "{}", "traceparent", PARENT);
    assertEquals(TRACE, failed.at("/traceId"));
    assertEquals("", bridge.call("no_such_tool", "{}").at("/traceId"));
  }

  @Test
  void aCollectorThatIsGoneCostsSpansAndNoCalls() throws Exception {
    start(collector.everything(), "");
    collector.close();

    for (int i = 0; i < 20; i++) {
      assertEquals(200, bridge.call("echo", "{}").status());
    }

    bridge.until(() -> dropped() > 0);
  }

  @Test
  void aBridgeBehindABridgeContinuesItsTrace() throws Exception {
    // Given
    start(collector.everything(), "", "--meta");
    try (TestBridge front = collector.bridge("{'url':'" + bridge.uri("/servers/s/mcp") + "'}")) {
      // When
      front.call("echo", "{}", "traceparent", PARENT);

      // Then
      bridge.until(
          () ->
              collector.trace(TRACE).stream().filter(named("tools/call echo", "CLIENT")).count()
                  == 2);
      Received remote =
          span(s -> named("tools/call echo", "CLIENT").test(s) && s.get("server.port") != null);
      Received http =
          span(named("POST /servers/{server}/mcp", "SERVER").and(s -> s.trace().equals(TRACE)));
      Received request = span(named("tools/call echo", "SERVER"));
      assertEquals("tcp", remote.get("network.transport"));
      assertEquals(remote.id(), http.parent());
      assertEquals(http.id(), request.parent());
    }
  }

  @Test
  void aRequestToAnApiHasTheContextInItsHeaders() throws Exception {
    try (EchoApi api =
        EchoApi.start().on("/openapi.json", ApiDocument.create().withGets("echo").asScript())) {
      bridge = collector.bridge("{'type':'openapi','url':'" + api.url("/openapi.json") + "'}");

      assertEquals(200, bridge.call("echo", "{}", "traceparent", PARENT).status());

      Received upstream = span(named("tools/call echo", "CLIENT"));
      assertEquals(upstream.id(), parentOf(sent(api, "/echo")));
    }
  }

  @Test
  void aRequestToAFunctionExecutorHasTheContextInItsHeaders() throws Exception {
    try (EchoApi api = EchoApi.start()) {
      bridge =
          collector.bridge(
              "{'type':'toolcall','url':'%s','tools':[%s]}"
                  .formatted(api.url("/run"), "{'type':'function','function':{'name':'run_it'}}"));

      bridge.call("run_it", "{}", "traceparent", PARENT);

      Received upstream = span(named("tools/call run_it", "CLIENT"));
      assertEquals(upstream.id(), parentOf(sent(api, "/run")));
    }
  }

  private static String sent(EchoApi api, String path) {
    return api.requests().stream()
        .filter(request -> request.path().equals(path))
        .flatMap(request -> request.headers().stream())
        .filter(header -> header.getKey().equalsIgnoreCase("traceparent"))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aCallOfAGrpcServiceHasTheContextInItsMetadata() throws Exception {
    try (GrpcServer server = GrpcServer.start()) {
      bridge = collector.bridge("{'type':'grpc','url':'" + server.url() + "'}");

      assertEquals(200, bridge.call("TestService_EmptyCall", "{}", "traceparent", PARENT).status());

      Received upstream = span(named("tools/call TestService_EmptyCall", "CLIENT"));
      String sent =
          server.header("traceparent").stream()
              .filter(each -> each.contains(TRACE))
              .findFirst()
              .orElseThrow();
      assertEquals(upstream.id(), parentOf(sent));
    }
  }

  @Test
  void theSpansOfACallWhoseServerDiesSaySo() throws Exception {
    start(collector.everything(), "");

    assertEquals(502, bridge.call("exit", "{\"code\":1}", "traceparent", PARENT).status());

    Received upstream = span(named("tools/call exit", "CLIENT"));
    assertEquals("upstream_crashed", upstream.get("error.type"));
    assertEquals("unknown", upstream.get("mcp_bridge.executed"));
    Received door = span(s -> s.id().equals(upstream.parent()));
    assertEquals("502", door.get("error.type"));
    assertTrue(door.isError());
  }

  @Test
  void theSpansOfACallWhoseClientLeavesSaySo() throws Exception {
    // Given
    start(collector.everything(), "");
    String request =
        "POST /servers/s/tools/never HTTP/1.1\r\nhost: localhost\r\ntraceparent: "
            + PARENT
            + "\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

    // When
    try (Socket client = new Socket("127.0.0.1", bridge.port())) {
      client.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      bridge.until(() -> bridge.get("/servers/s").at("/pending_calls").equals("1"));
    }

    // Then
    Received upstream = span(named("tools/call never", "CLIENT"));
    assertEquals("cancelled", upstream.get("error.type"));
    Received door = span(s -> s.id().equals(upstream.parent()));
    assertEquals("cancelled", door.get("error.type"));
    assertNull(door.get("http.response.status_code"));
  }

  @Test
  void aCallThatFindsTheQueueFullHasNoSpanOfAServer() throws Exception {
    start(collector.everything(), "'maxInFlight':1,'maxQueued':1");
    CompletableFuture<Answer> running = bridge.callLater("sleep", "{\"ms\":1000}");
    bridge.until(() -> bridge.get("/servers/s").at("/pending_calls").equals("1"));
    CompletableFuture<Answer> waiting = bridge.callLater("echo", "{}");
    bridge.until(() -> bridge.get("/servers/s").at("/queued_calls").equals("1"));

    Answer refused = bridge.call("echo", "{}", "traceparent", PARENT);

    assertEquals("queue_full", refused.code());
    assertEquals(200, running.get().status());
    assertEquals(200, waiting.get().status());
    Received door = span(s -> s.trace().equals(TRACE) && s.name().startsWith("POST"));
    assertEquals("503", door.get("error.type"));
    assertEquals(
        List.of("gate"),
        collector.trace(TRACE).stream()
            .map(Received::name)
            .filter(name -> !name.startsWith("POST"))
            .toList());
  }

  @Test
  void aCollectorThatHangsCostsSpansAndNeitherCallsNorTheStop() throws Exception {
    System.setProperty("otel.bsp.max.queue.size", "8");
    System.setProperty("otel.bsp.max.export.batch.size", "8");
    try {
      start(collector.everything(), "");
      collector.hang();

      bridge.until(
          () -> {
            assertEquals(200, bridge.call("echo", "{}").status());
            return dropped() > 0;
          });
      bridge.close();
      bridge = null;
    } finally {
      System.clearProperty("otel.bsp.max.queue.size");
      System.clearProperty("otel.bsp.max.export.batch.size");
    }
  }

  private double dropped() throws Exception {
    String page = bridge.get("/metrics").text();
    return MetricsText.values(page, "mcp_bridge_spans_dropped_total").sum();
  }
}
