package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * A greedy and a modest caller for each limit of {@code src/docs/limits.md}: the greedy caller's
 * error names the limit, and the modest caller is served.
 */
@Tag("access")
class FairnessIT {
  private static final String GREEDY = ApiKeys.generate();
  private static final String MODEST = ApiKeys.generate();
  private static final String KEYS =
      TestBridge.auth(
              TestBridge.key("greedy", GREEDY, "'read','call'"),
              TestBridge.key("modest", MODEST, "'read','call'"))
          + ",";

  private static TestBridge open(String keys, String entry) throws Exception {
    TestBridge bridge =
        TestBridge.of("{" + KEYS + keys + "'mcpServers':{'s':" + TestBridge.entry(entry) + "}}");
    bridge.until(() -> bridge.get("/servers/s", "x-api-key", MODEST).text().contains("\"ready\""));
    return bridge;
  }

  private static void assertLimited(Answer refused, String limit) {
    assertEquals(429, refused.status(), refused.toString());
    assertTrue(refused.text().contains(limit), refused.text());
    assertTrue(refused.header("retry-after") != null, refused.toString());
  }

  @Test
  void eventStreamsAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("'http':{'maxStreams':8},", "")) {
      List<HttpResponse<?>> open = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        open.add(stream(bridge, GREEDY));
      }

      assertLimited(bridge.get("/events", "x-api-key", GREEDY), "http.maxStreams");
      assertEquals(200, stream(bridge, MODEST).statusCode());
      assertTrue(open.stream().allMatch(each -> each.statusCode() == 200));
    }
  }

  private static HttpResponse<?> stream(TestBridge bridge, String key) throws Exception {
    return bridge
        .client()
        .send(
            java.net.http.HttpRequest.newBuilder(bridge.uri("/events"))
                .header("x-api-key", key)
                .build(),
            HttpResponse.BodyHandlers.ofInputStream());
  }

  @Test
  void startsOfServersAreLimitedPerCaller() throws Exception {
    String keys =
        TestBridge.auth(
            TestBridge.key("greedy", GREEDY, "'read','admin'"),
            TestBridge.key("modest", MODEST, "'read','admin'"));
    try (TestBridge bridge = TestBridge.of("{" + keys + ",'mcpServers':{}}")) {
      // Given programs that never answer
      List<CompletableFuture<Answer>> starting =
          IntStream.range(0, 8).mapToObj(n -> start(bridge, GREEDY, "silent" + n)).toList();
      bridge.until(
          () -> bridge.get("/servers", "x-api-key", MODEST).body().path("servers").size() == 8);

      // When and then
      assertLimited(start(bridge, GREEDY, "more").get(20, TimeUnit.SECONDS), "starts of servers");
      Answer served = bridge.post("/servers", echo("modest"), "x-api-key", MODEST);
      assertEquals(201, served.status(), served.toString());

      // And when they have ended
      for (int n = 0; n < 8; n++) {
        bridge.delete("/servers/silent" + n, "x-api-key", GREEDY);
        assertTrue(starting.get(n).get(20, TimeUnit.SECONDS).status() >= 400);
      }
      assertEquals(201, bridge.post("/servers", echo("last"), "x-api-key", GREEDY).status());
    }
  }

  private static CompletableFuture<Answer> start(TestBridge bridge, String key, String id) {
    String silent =
        "{\"id\":\"" + id + "\",\"command\":\"sleep\",\"args\":[\"986\"],\"startTimeout\":60}";
    return bridge.postLater("/servers", silent, "x-api-key", key);
  }

  private static String echo(String id) {
    return "{\"id\":\"" + id + "\"," + TestBridge.json(TestBridge.entry("")).substring(1);
  }

  @Test
  void mcpSessionsAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("'http':{'maxSessions':8},", "")) {
      for (int i = 0; i < 4; i++) {
        new McpClient(bridge.uri("/mcp"), "{}", "x-api-key", GREEDY).initialize();
      }
      String initialize =
          "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
              + "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}";
      String[] asGreedy = {"x-api-key", GREEDY, "accept", "application/json, text/event-stream"};

      Answer refused = bridge.post("/mcp", initialize, asGreedy);
      assertEquals(429, refused.status(), refused.toString());
      assertTrue(refused.text().contains("http.maxSessions"), refused.text());
      new McpClient(bridge.uri("/mcp"), "{}", "x-api-key", MODEST).initialize();
    }
  }

  @Test
  void sessionProcessesAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("", "'isolation':'session','maxSessions':4")) {
      List<McpClient> greedy = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        McpClient client =
            new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", GREEDY).initialized();
        greedy.add(client);
      }
      assertEquals("x", greedy.get(0).call("big", "{\"size\":1}").firstText());
      assertEquals("x", greedy.get(1).call("big", "{\"size\":1}").firstText());

      McpClient.Reply refused = greedy.get(2).call("big", "{\"size\":1}");

      assertTrue(refused.text().contains("(maxSessions)"), refused.text());
      McpClient modest =
          new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", MODEST).initialized();
      assertEquals("x", modest.call("big", "{\"size\":1}").firstText());
    }
  }

  @Test
  void pendingConfirmationsAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("", "'risk':{'tools':{'echo':2}}")) {
      TreeMap<Integer, Integer> statuses =
          Pipelined.send(bridge.port(), 5_010, i -> post("/servers/s/tools/echo", GREEDY, ""));

      assertEquals("{200=5000, 429=10}", statuses.toString());
      Answer refused = bridge.call("echo", "{}", "x-api-key", GREEDY);
      assertLimited(refused, "pending confirmations");
      assertTrue(bridge.call("echo", "{}", "x-api-key", MODEST).body().has("confirmation_id"));
    }
  }

  @Test
  void idempotencyKeysAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("", "")) {
      TreeMap<Integer, Integer> statuses =
          Pipelined.send(
              bridge.port(),
              50_010,
              i -> post("/servers/s/tools/echo", GREEDY, "Idempotency-Key: \"k" + i + "\"\r\n"));

      assertEquals("{200=50000, 429=10}", statuses.toString());
      String[] mine = {"x-api-key", MODEST, "idempotency-key", "\"mine\""};
      Answer once = bridge.call("answers", "{}", mine);
      assertEquals(200, once.status(), once.toString());
      assertEquals(once.text(), bridge.call("answers", "{}", mine).text());
    }
  }

  @Test
  void backgroundCallsAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("", "")) {
      TreeMap<Integer, Integer> statuses =
          Pipelined.send(
              bridge.port(),
              5_010,
              i -> post("/servers/s/tools/echo", GREEDY, "Prefer: respond-async\r\n"));

      assertEquals("{202=5000, 429=10}", statuses.toString());
      assertEquals(202, background(bridge, MODEST, 1).status());
    }
  }

  @Test
  void backgroundResultsAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("", "")) {
      int size = 9 << 20;
      for (int i = 0; i < 4; i++) {
        Answer begun = background(bridge, GREEDY, size);
        String path = "/calls/" + begun.at("/call_id");
        bridge.until(
            () -> bridge.get(path, "x-api-key", GREEDY).text().contains("\"status\":\"done\""));
      }

      assertLimited(background(bridge, GREEDY, 1), "results of background calls");
      assertEquals(202, background(bridge, MODEST, 1).status());
    }
  }

  private static Answer background(TestBridge bridge, String key, int size) throws Exception {
    String[] headers = {"x-api-key", key, "prefer", "respond-async"};
    return bridge.call("big", "{\"size\":" + size + "}", headers);
  }

  @Test
  void theQueueOfAServerIsSharedFairly() throws Exception {
    try (TestBridge bridge = open("", "'maxInFlight':2,'maxQueued':4")) {
      List<CompletableFuture<Answer>> greedy = sleeping(bridge, 12, 1_000);
      bridge.until(() -> queued(bridge) == 4);

      Answer modest = bridge.call("echo", "{\"text\":\"a\"}", "x-api-key", MODEST);

      assertEquals(200, modest.status(), modest.toString());
      assertEquals(7, greedy.stream().filter(call -> call.join().status() == 503).count());
      assertTrue(
          greedy.stream().anyMatch(call -> call.join().text().contains("(maxQueued)")),
          greedy.get(11).join().text());
    }
  }

  @Test
  void callsInFlightAreSharedFairly() throws Exception {
    try (TestBridge bridge = open("", "'maxInFlight':4")) {
      List<CompletableFuture<Answer>> greedy = sleeping(bridge, 8, 1_500);
      bridge.until(() -> queued(bridge) == 6);

      for (int i = 0; i < 5; i++) {
        assertEquals(200, bridge.call("echo", "{}", "x-api-key", MODEST).status());
      }

      assertTrue(greedy.stream().noneMatch(CompletableFuture::isDone));
      greedy.forEach(call -> assertEquals(200, call.join().status()));
    }
  }

  private static List<CompletableFuture<Answer>> sleeping(
      TestBridge bridge, int calls, int millis) {
    List<CompletableFuture<Answer>> all = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      all.add(bridge.callLater("sleep", "{\"ms\":" + millis + "}", "x-api-key", GREEDY));
    }
    return all;
  }

  private static int queued(TestBridge bridge) throws Exception {
    return bridge.get("/servers/s", "x-api-key", MODEST).body().path("queued_calls").asInt();
  }

  @Test
  void wrongTokensAreLimitedPerCaller() throws Exception {
    try (TestBridge bridge = open("", "'risk':{'tools':{'big':2}}")) {
      Answer greedy = bridge.call("big", "{\"size\":1}", "x-api-key", GREEDY);
      Answer modest = bridge.call("big", "{\"size\":1}", "x-api-key", MODEST);
      String wrong = "{\"confirm\":true,\"token\":\"no\"}";
      for (int i = 0; i < 10; i++) {
        assertEquals(403, bridge.post(path(greedy), wrong, "x-api-key", GREEDY).status());
      }

      assertEquals(429, bridge.post(path(greedy), wrong, "x-api-key", GREEDY).status());
      String right = "{\"confirm\":true,\"token\":\"" + modest.at("/token") + "\"}";
      assertEquals("x", bridge.post(path(modest), right, "x-api-key", MODEST).firstText());
    }
  }

  private static String path(Answer pending) {
    return "/confirmations/" + pending.at("/confirmation_id");
  }

  @Test
  void validationThreadsAreSharedFairly() throws Exception {
    String large = "{\"text\":\"" + "a".repeat(20_000) + "\"}";
    try (TestBridge bridge = open("", "")) {
      List<CompletableFuture<Answer>> greedy = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        greedy.add(bridge.callLater("echo", large, "x-api-key", GREEDY));
      }

      Answer modest = bridge.call("echo", large, "x-api-key", MODEST);

      assertEquals(200, modest.status(), modest.toString());
      greedy.forEach(call -> assertEquals(200, call.join().status()));
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void connectionsAreLimitedPerAddress() throws Exception {
    try (TestBridge bridge = open("'http':{'maxConnections':8},", "")) {
      List<Socket> greedy = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        greedy.add(new Socket("127.0.0.1", bridge.port()));
      }

      try (Socket modest = new Socket()) {
        modest.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 0));
        modest.connect(new InetSocketAddress("127.0.0.1", bridge.port()));
        modest.setSoTimeout(10_000);
        modest.getOutputStream().write(get("/tools", MODEST));
        assertEquals("HTTP/1.1 200 OK", lines(modest).readLine());
      }
      for (Socket socket : greedy) {
        socket.close();
      }
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void withoutKeysEachAddressIsItsOwnCaller() throws Exception {
    String open = "'http':{'host':'0.0.0.0','insecure':true,'maxStreams':4},";
    try (TestBridge bridge = TestBridge.of("{" + open + "'mcpServers':{}}")) {
      List<Socket> sockets = new ArrayList<>();
      List<String> answers = new ArrayList<>();
      for (String address : List.of("127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3")) {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByName(address), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", bridge.port()));
        socket.getOutputStream().write(get("/events", "none"));
        answers.add(lines(socket).readLine());
        sockets.add(socket);
      }

      String ok = "HTTP/1.1 200 OK";
      assertEquals(List.of(ok, ok, "HTTP/1.1 429 Too Many Requests", ok), answers);
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private static byte[] get(String path, String key) {
    return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-API-Key: " + key + "\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] post(String path, String key, String more) {
    return ("POST "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: 2\r\nX-API-Key: "
            + key
            + "\r\n"
            + more
            + "\r\n{}")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static BufferedReader lines(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
  }

  /** Sends many requests on one connection without waiting for responses (HTTP pipelining). */
  private static final class Pipelined {
    private Pipelined() {}

    /** Returns the number of responses by status. */
    static TreeMap<Integer, Integer> send(int port, int count, IntFunction<byte[]> request)
        throws Exception {
      try (Socket socket = new Socket("127.0.0.1", port)) {
        socket.setSoTimeout(60_000);
        CompletableFuture<Void> sent =
            CompletableFuture.runAsync(
                () -> {
                  try {
                    for (int i = 0; i < count; i++) {
                      socket.getOutputStream().write(request.apply(i));
                    }
                  } catch (IOException e) {
                    throw new AssertionError(e);
                  }
                });
        TreeMap<Integer, Integer> statuses = new TreeMap<>();
        BufferedReader in = lines(socket);
        for (int i = 0; i < count; i++) {
          statuses.merge(readStatus(in), 1, Integer::sum);
        }
        sent.get(1, TimeUnit.SECONDS);
        return statuses;
      }
    }

    private static int readStatus(BufferedReader in) throws IOException {
      String first = in.readLine();
      int length = 0;
      for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
        if (line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")) {
          length = Integer.parseInt(line.substring(15).strip());
        }
      }
      assertFalse(first == null, "the connection was closed");
      in.skip(length);
      return Integer.parseInt(first.substring(9, 12));
    }
  }
}
