package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.LongForm;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.PendingRequest;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The MCP endpoints in both eras, in front of a scripted server with a handshake. */
@Tag("mcp")
@Tag("threads")
class McpDoorIT {
  private static final String FORMS = "{\"elicitation\":{}}";
  private static final String VERSION = "mcp-protocol-version";
  private static final String[] ECHO = McpClient.headers("tools/call", "echo");
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    String otherEntry = TestBridge.entry("'risk':{'tools':{'big':2}}");
    bridge =
        TestBridge.of(
                "{'mcpServers':{'s':" + TestBridge.entry("") + ",'other':" + otherEntry + "}}")
            .awaitReady("s", "other");
  }

  private static McpClient client(String path, String capabilities) {
    return new McpClient(bridge.uri(path), capabilities);
  }

  private static McpClient session(String path, String capabilities) throws Exception {
    return client(path, capabilities).initialized();
  }

  @Test
  void sessionInitializesListsCallsAndEnds() throws Exception {
    McpClient client = client("/servers/s/mcp", "{}");

    JsonNode introduction = client.initialize();

    assertEquals("2025-11-25", introduction.path("protocolVersion").asText());
    assertEquals("scripted", introduction.at("/serverInfo/name").asText());
    assertTrue(introduction.at("/capabilities/tools/listChanged").asBoolean());
    assertTrue(client.request("ping", "{}").result().isEmpty());
    Reply tools = client.request("tools/list", "{}");
    assertEquals("echo", tools.at("/tools/0/name"));
    assertTrue(tools.text().contains("\"x-unknown\":1.10"), tools.text());
    Reply echo = client.call("echo", "{\"n\":12345678901234567890,\"d\":1.10,\"ü\":null}");
    assertTrue(
        echo.text().contains("{\"n\":12345678901234567890,\"d\":1.10,\"ü\":null}"), echo.text());
    assertEquals("content of test://a b%25", resource(client, "test://a b%25"));
    assertEquals(-32602, client.call("nothing", "{}").errorCode());
    assertEquals(-32601, client.request("nonsense/do", "{}").errorCode());

    assertEquals(204, client.delete());
    assertEquals(404, client.request("ping", "{}").status());
  }

  @Test
  void sessionIsValidOnlyAtItsEndpoint() throws Exception {
    McpClient client = session("/servers/s/mcp", "{}");
    String[] id = {"mcp-session-id", client.session()};
    String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

    assertEquals(200, client("/servers/s/mcp", "{}").post(ping, id).status());
    assertEquals(404, client("/servers/other/mcp", "{}").post(ping, id).status());
    assertEquals(404, client("/mcp", "{}").post(ping, id).status());
    assertEquals(404, client("/mcp", "{}").post(ping, "mcp-session-id", "unknown").status());
    assertEquals(400, client("/mcp", "{}").post(ping).status());
    assertEquals(400, client.post(ping, VERSION, "1999-01-01").status(), "an unknown version");
    assertEquals(405, bridge.get("/mcp").status());
    assertEquals(405, bridge.delete("/servers/s/mcp").status());
    assertEquals(404, client("/servers/absent/mcp", "{}").post(initialize()).status());
  }

  private static HttpResponse<Stream<String>> stream(String path, String... headers)
      throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(bridge.uri(path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return bridge.client().send(request.build(), HttpResponse.BodyHandlers.ofLines());
  }

  private static String data(Iterator<String> lines) {
    String line = lines.next();
    while (!line.startsWith("data: ")) {
      line = lines.next();
    }
    return line.substring(6);
  }

  @ParameterizedTest
  @CsvSource({"/sse,*/*", "/servers/s/sse,", "/sse,'application/json, text/*;q=0.5'"})
  void sseTransportSendsErrorsOnItsStream(String path, String accept) throws Exception {
    try (Stream<String> stream =
        (accept == null ? stream(path) : stream(path, "accept", accept)).body()) {
      Iterator<String> lines = stream.iterator();
      String address = data(lines);
      String[] early = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"server/discover\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{}}",
        initialize()
      };
      for (String message : early) {
        assertEquals(202, bridge.post(address, message).status(), message);
      }

      assertTrue(data(lines).contains("\"id\":\"a\",\"error\":"));
      assertTrue(data(lines).contains("\"id\":2,\"error\":"));
      assertTrue(data(lines).contains("\"protocolVersion\""));
      assertEquals(400, bridge.post(address, "{").status());
    }
  }

  @Test
  void sessionStreamIsOpenedForAnyMediaRange() throws Exception {
    McpClient client = session("/mcp", "{}");

    HttpResponse<Stream<String>> opened = stream("/mcp", "mcp-session-id", client.session());
    try (Stream<String> lines = opened.body()) {
      assertEquals(200, opened.statusCode());
      assertTrue(lines.iterator().hasNext());
    }
    assertEquals(
        406,
        bridge
            .get("/mcp", "mcp-session-id", client.session(), "accept", "application/json")
            .status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/html", "application/json", "text/event-stream", "*/*", "x"})
  void shortAnswerToAPostIsJsonWhateverIsAccepted(String accept) throws Exception {
    Answer answer = bridge.post("/mcp", initialize(), "accept", accept);

    assertEquals(200, answer.status(), answer.toString());
    assertEquals("application/json", answer.header("content-type"));
    assertEquals("2025-11-25", answer.at("/result/protocolVersion"));
  }

  @Test
  void statelessRequestNeedsNoSession() throws Exception {
    McpClient client = client("/servers/s/mcp", "{}");

    JsonNode discovered = client.stateless("server/discover", "").result();
    assertEquals("[\"2026-07-28\"]", discovered.path("supportedVersions").toString());
    assertEquals("complete", discovered.path("resultType").asText());
    assertEquals("private", discovered.path("cacheScope").asText());
    Reply echo = client.stateless("tools/call", "\"name\":\"echo\",\"arguments\":{\"a\":1.10}");
    assertTrue(echo.text().contains("{\"a\":1.10}"), echo.text());
    assertEquals("complete", echo.at("/resultType"));
    assertFalse(echo.headers().containsKey("mcp-session-id"));
    Reply ping = client.stateless("ping", "");
    assertEquals(404, ping.status());
    assertEquals(-32601, ping.errorCode());
    Reply invalid =
        client.stateless("tools/call", "\"name\":\"sleep\",\"arguments\":{\"ms\":\"x\"}");
    assertTrue(invalid.result().path("isError").asBoolean());
    assertTrue(invalid.firstText().contains("ms"), invalid.firstText());
  }

  @Test
  void unknownMethodStartsNoServer() throws Exception {
    try (TestBridge lazy =
        TestBridge.of("{'mcpServers':{'s':" + TestBridge.entry("'start':'lazy'") + "}}")) {
      for (String path : List.of("/mcp", "/servers/s/mcp")) {
        Reply ping = new McpClient(lazy.uri(path), "{}").stateless("ping", "");

        assertEquals(404, ping.status());
        assertEquals(-32601, ping.errorCode());
      }
      assertEquals("stopped", lazy.state("s"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mcp-method|tools/list|mcp-name|echo|-32020",
        "mcp-method|tools/call|mcp-name|other|-32020",
        "mcp-method|tools/call|mcp-name|=?base64?!?=|-32020",
        "mcp-method|tools/call|x-nothing|echo|-32020",
        "x-nothing|tools/call|mcp-name|echo|-32020",
        "mcp-method|tools/call|mcp-name|=?base64?ZWNobw==?=|0",
      })
  void statelessHeadersMustMatchTheBody(
      String name1, String value1, String name2, String value2, int code) throws Exception {
    Reply reply =
        client("/servers/s/mcp", "{}")
            .post(stateless("2026-07-28"), VERSION, "2026-07-28", name1, value1, name2, value2);

    assertEquals(code == 0 ? 200 : 400, reply.status());
    assertEquals(code, reply.errorCode());
  }

  @Test
  void unsupportedVersionIsRejectedWithTheSupportedOnes() throws Exception {
    McpClient client = client("/servers/s/mcp", "{}");
    String[] names = {"mcp-method", "tools/call", "mcp-name", "echo"};

    Reply newer =
        client.post(stateless("2099-01-01"), McpClient.with(names, VERSION, "2099-01-01"));
    assertEquals(400, newer.status());
    assertEquals(-32022, newer.errorCode());
    assertEquals("2026-07-28", newer.last().at("/error/data/supported/0").asText());
    Reply mixed =
        client.post(stateless("2026-07-28"), McpClient.with(names, VERSION, "2025-11-25"));
    assertEquals(-32020, mixed.errorCode());
    String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    Reply bare = client.post(list, VERSION, "2026-07-28");
    assertEquals(400, bare.status());
    assertEquals(-32602, bare.errorCode());
  }

  @Test
  void aggregateEndpointQualifiesNames() throws Exception {
    McpClient client = session("/mcp", "{}");
    List<String> names = new ArrayList<>();
    client
        .request("tools/list", "{}")
        .result()
        .path("tools")
        .forEach(tool -> names.add(tool.path("name").asText()));

    assertTrue(names.containsAll(List.of("s__echo", "other__echo")), names.toString());
    assertEquals(names.size(), names.stream().distinct().count());
    assertTrue(names.stream().allMatch(name -> name.matches("[A-Za-z0-9_.-]{1,64}")));
    assertEquals("x", client.call("s__big", "{\"size\":1}").firstText());
    assertEquals(-32602, client.call("echo", "{}").errorCode());
    assertEquals(
        "user",
        client.request("prompts/get", "{\"name\":\"other__greet\"}").at("/messages/0/role"));
    JsonNode resources = client.request("resources/list", "{}").result().path("resources");
    assertEquals(
        List.of("test://a b%25", "mcp-bridge://s/test://a b%25"),
        resources.findValuesAsText("uri"));
    assertEquals("content of test://a b%25", resource(client, "test://a b%25"));
    assertEquals("content of test://a b%25", resource(client, "mcp-bridge://s/test://a b%25"));
  }

  @Test
  void gateSendsAFormToASession() throws Exception {
    List<JsonNode> elicitations = new ArrayList<>();
    McpClient client =
        client("/servers/other/mcp", FORMS)
            .withRequestHandler(
                request -> {
                  elicitations.add(request);
                  return elicitations.size() == 1
                      ? "{\"action\":\"accept\",\"content\":{\"confirm\":true}}"
                      : "{\"action\":\"accept\",\"content\":{\"confirm\":false}}";
                });
    client.initialize();

    assertEquals("xxx", client.call("big", "{\"size\":3}").firstText());
    JsonNode elicitation = elicitations.get(0);
    assertEquals("elicitation/create", elicitation.path("method").asText());
    assertTrue(
        elicitation.at("/params/message").asText().contains("{\"size\":3}"),
        elicitation.toString());
    Reply refused = client.call("big", "{\"size\":3}");
    assertTrue(refused.result().path("isError").asBoolean());
    assertTrue(refused.firstText().contains("rejected"), refused.firstText());
    assertTrue(bridge.get("/confirmations").body().path("confirmations").isEmpty());
  }

  @Test
  void gateRequiresAStatelessClientToRepeatTheRequest() throws Exception {
    McpClient client = client("/servers/other/mcp", FORMS);
    String call = "\"name\":\"big\",\"arguments\":{\"size\":4}";
    JsonNode inputRequired = client.stateless("tools/call", call).result();
    assertEquals("input_required", inputRequired.path("resultType").asText());
    String state = inputRequired.path("requestState").asText();
    String yes =
        ",\"requestState\":\""
            + state
            + "\",\"inputResponses\":{\"confirmation\":{\"action\":\"accept\","
            + "\"content\":{\"confirm\":true}}}";

    String otherCall = "\"name\":\"big\",\"arguments\":{\"size\":5}";
    assertEquals(-32602, client.stateless("tools/call", otherCall + yes).errorCode());
    assertEquals(
        -32602, client.stateless("tools/call", call + yes.replace(state, state + "0")).errorCode());
    JsonNode again =
        client.stateless("tools/call", call + ",\"requestState\":\"" + state + "\"").result();
    assertEquals("input_required", again.path("resultType").asText());

    Reply done = client.stateless("tools/call", call + yes);

    assertEquals("xxxx", done.firstText());
    assertEquals("complete", done.at("/resultType"));
    Reply used = client.stateless("tools/call", call + yes);
    assertEquals(-32602, used.errorCode());
    assertEquals("yes", used.last().at("/error/data/executed").asText(), used.toString());
  }

  @Test
  void requestCancelledDuringConfirmationDoesNotRun() throws Exception {
    McpClient client = client("/servers/other/mcp", FORMS);
    client.withRequestHandler(
        request -> {
          client.post(
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                  + "{\"requestId\":1}}");
          return "{\"action\":\"accept\",\"content\":{\"confirm\":true}}";
        });
    client.initialize();

    Reply cancelled = client.call("big", "{\"size\":3}");

    assertEquals(499, cancelled.errorCode(), cancelled.toString());
    assertTrue(bridge.get("/confirmations").body().path("confirmations").isEmpty());
  }

  @Test
  void clientWithoutFormsGetsConfirmationInstructions() throws Exception {
    McpClient client = session("/servers/other/mcp", "{}");

    try (CapturedLog log = new CapturedLog()) {
      Reply explanation = client.call("big", "{\"size\":2}");

      assertTrue(explanation.result().path("isError").asBoolean());
      String id =
          explanation.firstText().replaceAll("(?s).*mcp-bridge confirm ([0-9a-f-]+),.*", "$1");
      String yes = "{\"confirm\":true,\"token\":\"" + log.token(id) + "\"}";
      assertEquals("xx", bridge.post("/confirmations/" + id, yes).firstText());
    }
  }

  @Test
  void serverRequestReachesTheClientOfTheRunningCall() throws Exception {
    McpClient legacy =
        client("/servers/s/mcp", FORMS)
            .withRequestHandler(request -> "{\"action\":\"accept\",\"content\":{\"a\":1}}")
            .initialized();
    String ask = "{\"method\":\"elicitation/create\"}";

    String answered = "result {\"action\":\"accept\",\"content\":{\"a\":1}}";
    assertEquals(answered, legacy.call("ask", ask).firstText());
    assertTrue(
        legacy
            .call("ask", "{\"method\":\"sampling/createMessage\"}")
            .firstText()
            .contains("32601"));
    assertTrue(bridge.call("ask", ask).firstText().startsWith("error"));

    McpClient stateless = client("/servers/s/mcp", FORMS);
    String call = "\"name\":\"ask\",\"arguments\":" + ask;
    JsonNode inputRequired = stateless.stateless("tools/call", call).result();
    assertEquals("elicitation/create", inputRequired.at("/inputRequests/input/method").asText());
    String state = ",\"requestState\":\"" + inputRequired.path("requestState").asText() + "\"";
    String responses =
        ",\"inputResponses\":{\"input\":{\"action\":\"accept\",\"content\":{\"a\":1}}}";
    assertEquals(answered, stateless.stateless("tools/call", call + state + responses).firstText());
    assertEquals(-32602, stateless.stateless("tools/call", call + state + responses).errorCode());
  }

  @Test
  void statelessClientGetsEveryServerRequestOfACall() throws Exception {
    McpClient client = client("/servers/s/mcp", FORMS);
    String call = "\"name\":\"ask_twice\",\"arguments\":{\"method\":\"elicitation/create\"}";
    JsonNode first = client.stateless("tools/call", call).result();
    JsonNode second = client.stateless("tools/call", call + answer(first, "1")).result();

    assertEquals("input_required", second.path("resultType").asText(), second.toString());
    assertNotEquals(first.path("requestState"), second.path("requestState"));
    assertEquals(
        "result {\"action\":\"accept\",\"content\":{\"a\":1}}"
            + " result {\"action\":\"accept\",\"content\":{\"a\":2}}",
        client.stateless("tools/call", call + answer(second, "2")).firstText());
  }

  @Test
  void statelessDisconnectAfterInputCancelsTheCall() throws Exception {
    try (TestBridge own = TestBridge.scripted("")) {
      McpClient client = new McpClient(own.uri("/servers/s/mcp"), FORMS);
      String members =
          "\"name\":\"ask_and_stay\",\"arguments\":{\"method\":\"elicitation/create\"}";
      JsonNode inputRequired = client.stateless("tools/call", members).result();
      PendingRequest call = client.begin("tools/call", members + answer(inputRequired, "1"));
      own.until(() -> own.call("answers", "{}").firstText().equals("1"));
      call.cancellation().cancel();

      own.until(() -> own.call("cancels", "{}").firstText().equals("1"));
      own.until(() -> own.get("/servers/s").body().path("pending_calls").asInt() == 0);
    }
  }

  @Test
  void unansweredConfirmationExpires() throws Exception {
    String config =
        "{'risk':{'expiry':1},'mcpServers':{'s':" + TestBridge.entry("'riskLevel':2") + "}}";
    try (TestBridge own = TestBridge.of(config)) {
      McpClient client =
          new McpClient(own.uri("/servers/s/mcp"), FORMS)
              .withRequestHandler(request -> null)
              .initialized();

      Reply expired = client.call("echo", "{}");

      assertEquals(410, expired.errorCode(), expired.toString());
      assertTrue(own.get("/confirmations").body().path("confirmations").isEmpty());
    }
  }

  private static String answer(JsonNode inputRequired, String a) {
    return """
        ,"requestState":"%s","inputResponses":{"input":{"action":"accept","content":{"a":%s}}}"""
        .formatted(inputRequired.path("requestState").asText(), a);
  }

  @Test
  void progressKeepsItsTokenAndLogsAreFilteredByLevel() throws Exception {
    McpClient client = session("/servers/s/mcp", "{}");

    Reply progress =
        client.request(
            "tools/call",
            "{\"name\":\"progress\",\"arguments\":{\"steps\":3},"
                + "\"_meta\":{\"progressToken\":\"mine\"}}");
    List<JsonNode> notifications = progress.notifications("notifications/progress");
    assertEquals(3, notifications.size());
    assertEquals("mine", notifications.get(0).at("/params/progressToken").asText());
    assertEquals("finished", progress.firstText());
    assertEquals(1, client.call("log", "{}").notifications("notifications/message").size());
    client.request("logging/setLevel", "{\"level\":\"error\"}");
    assertEquals(0, client.call("log", "{}").notifications("notifications/message").size());
    assertEquals(-32602, client.request("logging/setLevel", "{\"level\":\"loud\"}").errorCode());

    McpClient stateless = client("/servers/s/mcp", "{}");
    String log = "\"name\":\"log\",\"arguments\":{}";
    assertEquals(1, stateless.stateless("tools/call", log).messages().size());
    String level = "\"io.modelcontextprotocol/logLevel\":\"debug\"";
    assertEquals(2, stateless.stateless("tools/call", log, level).messages().size());
  }

  @Test
  void listChangesAreSentToSubscribers() throws Exception {
    try (TestBridge own = TestBridge.scripted("")) {
      McpClient session = new McpClient(own.uri("/mcp"), "{}").initialized();
      McpClient stateless = new McpClient(own.uri("/servers/s/mcp"), "{}");
      BufferedReader stream = session.listen();
      CompletableFuture<JsonNode> notification = McpClient.nextLater(stream);
      BufferedReader subscription = subscribe(own, "{\"toolsListChanged\":true}");
      JsonNode acknowledged = McpClient.next(subscription);
      assertEquals(
          "notifications/subscriptions/acknowledged", acknowledged.path("method").asText());

      stateless.stateless("tools/call", "\"name\":\"grow\",\"arguments\":{}");

      assertEquals(
          "notifications/tools/list_changed",
          notification.get(20, TimeUnit.SECONDS).path("method").asText());
      JsonNode changed = McpClient.next(subscription);
      assertEquals("notifications/tools/list_changed", changed.path("method").asText());
      assertEquals(
          "listener", changed.at("/params/_meta/io.modelcontextprotocol~1subscriptionId").asText());
    }
  }

  @Test
  void disconnectCancelsOnlyStatelessCalls() throws Exception {
    try (TestBridge own = TestBridge.scripted("")) {
      McpClient session = new McpClient(own.uri("/servers/s/mcp"), "{}").initialized();
      PendingRequest kept = callAndDisconnect(own, session);
      callAndDisconnect(own, new McpClient(own.uri("/servers/s/mcp"), "{}"));

      own.until(() -> session.call("cancels", "{}").firstText().equals("1"));
      assertEquals(1, own.get("/servers/s").body().path("pending_calls").asInt());
      kept.cancellation().cancel();
      own.until(() -> session.call("cancels", "{}").firstText().equals("2"));
      own.assertAlive();
    }
  }

  @Test
  void concurrentCallsWithTheSameIdAreNeverMixedUp() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(16);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String mine = "payload-" + i;
      all.add(
          CompletableFuture.runAsync(
              () -> {
                for (int round = 0; round < LongForm.times(50, 500); round++) {
                  assertTrue(echo(mine).contains("\"" + mine + "\""));
                }
              },
              pool));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(120, TimeUnit.SECONDS);
    pool.shutdown();
  }

  private static String echo(String payload) {
    String body =
        stateless("2026-07-28")
            .replace("\"arguments\":{}", "\"arguments\":{\"p\":\"" + payload + "\"}");
    String[] headers = McpClient.with(ECHO, "accept", "application/json, text/event-stream");
    return bridge.postLater("/servers/s/mcp", body, headers).join().text();
  }

  /** Starts a call that never returns, and disconnects when it has reached the server. */
  private static PendingRequest callAndDisconnect(TestBridge own, McpClient client)
      throws Exception {
    long before = own.get("/servers/s").body().path("pending_calls").asLong();
    PendingRequest call = client.begin("tools/call", "\"name\":\"never\",\"arguments\":{}");
    own.until(() -> own.get("/servers/s").body().path("pending_calls").asLong() > before);
    call.response().cancel(true);
    return call;
  }

  private static BufferedReader subscribe(TestBridge own, String notifications) throws Exception {
    McpClient client = new McpClient(own.uri("/servers/s/mcp"), "{}");
    client.setFixedId("\"listener\"");
    return new BufferedReader(
        new InputStreamReader(
            client
                .begin("subscriptions/listen", "\"notifications\":" + notifications)
                .response()
                .join()
                .body(),
            StandardCharsets.UTF_8));
  }

  private static String resource(McpClient client, String uri) throws Exception {
    return client.request("resources/read", "{\"uri\":\"" + uri + "\"}").at("/contents/0/text");
  }

  private static String initialize() {
    return "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
        + "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}";
  }

  private static String stateless(String version) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
        + "\"arguments\":{},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\""
        + version
        + "\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
  }
}
