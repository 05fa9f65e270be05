package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.RoamingSession;
import dev.mcpbridge.fixture.TestBridge;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** MCP clients whose messages arrive at different nodes, with sessions and without. */
@Tag("cluster")
@Tag("slow")
class ClusterSessionsIT {
  private static final String NEWEST = "2025-11-25";
  private static final String ANN = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final List<Integer> ALL = List.of(1, 2, 3);

  /** The first three run on nodes 1 to 3; the last has one process per session. */
  private static final List<String> SERVERS = List.of("one", "two", "three", "own");

  @TempDir static Path folder;
  @TempDir static Path other;

  @AutoClose("stopAll")
  private static Nodes nodes;

  @AutoClose private static Nodes expiring;

  @BeforeAll
  static void start() throws Exception {
    String own = "'isolation':'session','timeout':30,'placement':['n2']";
    String servers =
        Nodes.placed(folder, SERVERS.subList(0, 3)) + ",'own':" + Nodes.entry(folder, own);
    nodes =
        Nodes.withKey(
            folder,
            3,
            "'auth':{'keys':[%s,%s]},'mcpServers':{%s}"
                .formatted(
                    TestBridge.key("ann", ANN, "'read','call'"),
                    TestBridge.key("bob", BOB, "'read','call'"),
                    servers),
            ANN);
  }

  @BeforeEach
  void allAreThere() throws Exception {
    nodes.startMissing();
    nodes.awaitReady(SERVERS);
    nodes.assertAllAnswer(SERVERS);
  }

  private static RoamingSession session(int node, String path) throws Exception {
    return new RoamingSession(nodes, path, NEWEST, "x-api-key", ANN).initialize(node);
  }

  // --- use at other nodes

  @Test
  void sessionOfTheConsoleIsUsableAtAllNodesAndItsEndIsKnownToAll() throws Exception {
    String token =
        nodes.post(1, "/console/session", "", "authorization", "Bearer " + BOB).at("/token");
    String[] credential = {"authorization", "Bearer " + token};
    for (int node : ALL) {
      assertEquals("bob", nodes.get(node, "/whoami", credential).at("/principal"));
    }

    assertEquals(204, nodes.send(3, "DELETE", "/console/session", credential).status());

    for (int node : ALL) {
      nodes.until(() -> nodes.get(node, "/whoami", credential).status() == 401);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2024-11-05,/mcp,two__",
    "2025-03-26,/servers/two/mcp,''",
    "2025-06-18,/mcp,two__",
    "2025-11-25,/servers/two/mcp,''"
  })
  void sessionIsUsableAtAllNodes(String version, String path, String prefix) throws Exception {
    for (int opened : ALL) {
      RoamingSession client =
          new RoamingSession(nodes, path, version, "x-api-key", ANN).initialize(opened);
      assertEquals(202, client.post(1 + opened % 3, "\"method\":\"notifications/initialized\""));
      for (int node : ALL) {
        Reply echo = client.call(node, prefix + "echo", "{\"n\":1.10}");
        assertTrue(echo.text().contains("{\"n\":1.10}"), echo.text());
        Reply tools = client.request(node, "tools/list", "{}");
        assertTrue(tools.text().contains("\"" + prefix + "progress\""), tools.text());
      }
    }
  }

  @Test
  void newSessionsAreKnownAtAllNodesImmediately() throws Exception {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int opened = 1 + i % 3;
      all.add(Background.call(() -> openAndUse(opened)));
    }
    for (CompletableFuture<Void> each : all) {
      each.get(120, TimeUnit.SECONDS);
    }
  }

  private static Void openAndUse(int opened) throws Exception {
    for (int i = 0; i < 10; i++) {
      RoamingSession client = session(opened, "/mcp");
      assertTrue(client.request(1 + opened % 3, "ping", "{}").result().isEmpty());
      assertTrue(client.request(1 + (opened + 1) % 3, "ping", "{}").result().isEmpty());
    }
    return null;
  }

  @Test
  void sessionIsBoundToItsPrincipalAndEndpoint() throws Exception {
    for (int opened : ALL) {
      RoamingSession ann = session(opened, "/mcp");
      RoamingSession bob = ann.stolenBy("x-api-key", BOB);
      for (int node : ALL) {
        assertEquals(404, bob.request(node, "ping", "{}").status());
        assertEquals(404, bob.end(node));
        assertThrows(AssertionError.class, () -> bob.listen(node));
        RoamingSession elsewhere = ann.stolenAt("/servers/two/mcp");
        assertEquals(404, elsewhere.request(node, "ping", "{}").status());
        assertEquals(401, ann.stolenBy().request(node, "ping", "{}").status());
      }
      assertTrue(ann.request(1 + opened % 3, "ping", "{}").result().isEmpty());
    }
  }

  @Test
  void sessionHasOneProcessForAllNodes() throws Exception {
    RoamingSession client = session(1, "/servers/own/mcp");
    RoamingSession other = session(2, "/servers/own/mcp");

    assertEquals("a", client.call(1, "remember", "{\"text\":\"a\"}").firstText());
    assertEquals("b", other.call(3, "remember", "{\"text\":\"b\"}").firstText());
    assertEquals("a c", client.call(2, "remember", "{\"text\":\"c\"}").firstText());
    assertEquals("a c d", client.call(3, "remember", "{\"text\":\"d\"}").firstText());

    int before = nodes.get(1, "/servers/own").body().path("pids").size();
    assertEquals(204, client.end(3));
    nodes.until(() -> nodes.get(1, "/servers/own").body().path("pids").size() == before - 1);
    assertEquals("b e", other.call(1, "remember", "{\"text\":\"e\"}").firstText());
  }

  // --- running calls

  @ParameterizedTest
  @CsvSource({"1,2", "2,3", "3,1", "1,3"})
  void progressIsSentWhereTheCallWasMade(int opened, int door) throws Exception {
    for (String server : List.of("one", "two", "three")) {
      RoamingSession client = session(opened, "/servers/" + server + "/mcp");

      Reply reply = client.call(door, "progress", "{\"steps\":3}");

      assertEquals(3, reply.notifications("notifications/progress").size(), reply.text());
      assertEquals("finished", reply.firstText());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"elicitation/create", "sampling/createMessage", "roots/list"})
  void serverRequestIsAnsweredAtAnyNode(String method) throws Exception {
    for (String server : List.of("one", "two", "three")) {
      for (int answered : ALL) {
        RoamingSession client = session(1, "/servers/" + server + "/mcp");
        client.answersAt(answered, question -> ",\"result\":{\"roots\":[],\"n\":1.10}");

        Reply reply = client.call(2, "ask", "{\"method\":\"" + method + "\"}");

        assertTrue(reply.firstText().startsWith("result {"), reply.text());
        assertTrue(reply.firstText().contains("\"n\":1.10"), reply.text());
        assertEquals(1, client.serverRequests().size());
      }
    }
  }

  @Test
  void rejectedServerRequestReachesTheServer() throws Exception {
    RoamingSession client = session(1, "/servers/three/mcp");
    client.answersAt(3, question -> ",\"error\":{\"code\":-1,\"message\":\"I would rather not\"}");

    Reply reply = client.call(2, "ask", "{\"method\":\"sampling/createMessage\"}");

    assertTrue(reply.firstText().startsWith("error "), reply.text());
  }

  @ParameterizedTest
  @CsvSource({"1,2,one", "1,2,two", "1,2,three", "2,1,three", "3,2,one"})
  void callIsCancelledAtAnotherNode(int door, int cancelled, String server) throws Exception {
    RoamingSession client = session(3, "/servers/" + server + "/mcp");
    int before = cancels(server);
    CompletableFuture<Reply> call = client.callLater(door, "\"mine\"", "never", "{}");
    nodes.until(() -> nodes.get(1, "/servers/" + server).body().path("pending_calls").asInt() > 0);

    int status =
        client.post(
            cancelled,
            "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"mine\"}");

    assertEquals(202, status);
    nodes.until(() -> cancels(server) == before + 1);
    assertTrue(call.get(60, TimeUnit.SECONDS).messages().size() <= 1);
  }

  private static int cancels(String server) throws Exception {
    return Integer.parseInt(nodes.call(1, server, "cancels", "{}").firstText());
  }

  // --- clients without a session

  private static McpClient stateless(int node, String server, String key) {
    return new McpClient(
        nodes.uri(node, "/servers/" + server + "/mcp"), "{\"elicitation\":{}}", "x-api-key", key);
  }

  private static String question(String tool) {
    return "\"name\":\"" + tool + "\",\"arguments\":{\"method\":\"elicitation/create\"}";
  }

  private static String state(Reply asked) {
    assertEquals("input_required", asked.at("/resultType"), asked.text());
    return ",\"requestState\":\"" + asked.at("/requestState") + "\"";
  }

  @ParameterizedTest
  @ValueSource(strings = {"one", "two", "three"})
  void statelessClientRepeatsItsRequestAtAnyNode(String server) throws Exception {
    String call = question("ask");
    Reply asked = stateless(1, server, ANN).stateless("tools/call", call);
    String repeated = call + state(asked);
    String answered = repeated + ",\"inputResponses\":{\"input\":{\"action\":\"decline\"}}";
    McpClient other = stateless(2, server, ANN);

    assertEquals(state(asked), state(other.stateless("tools/call", repeated)));
    String otherCall = answered.replace("elicitation/create", "roots/list");
    assertEquals(-32602, other.stateless("tools/call", otherCall).errorCode());
    assertEquals(-32602, stateless(2, server, BOB).stateless("tools/call", answered).errorCode());
    Reply done = other.stateless("tools/call", answered);
    assertEquals("result {\"action\":\"decline\"}", done.firstText(), done.text());
    for (int node : ALL) {
      Reply used = stateless(node, server, ANN).stateless("tools/call", answered);
      assertEquals(-32602, used.errorCode(), used.text());
    }
  }

  @Test
  void statelessDisconnectAtAnotherNodeCancelsTheCall() throws Exception {
    String call = question("ask_and_stay");
    int answers = Integer.parseInt(nodes.call(1, "three", "answers", "{}").firstText());
    int cancels = cancels("three");
    Reply asked = stateless(1, "three", ANN).stateless("tools/call", call);
    String answered =
        call + state(asked) + ",\"inputResponses\":{\"input\":{\"action\":\"decline\"}}";
    McpClient.PendingRequest waiting = stateless(2, "three", ANN).begin("tools/call", answered);
    nodes.until(
        () -> nodes.call(1, "three", "answers", "{}").firstText().equals("" + (answers + 1)));

    waiting.cancellation().cancel();

    nodes.until(() -> cancels("three") == cancels + 1);
  }

  @Test
  void callThatWaitedAtALostNodeHasAnUnknownOutcome() throws Exception {
    String call = question("ask");
    Reply asked = stateless(1, "two", ANN).stateless("tools/call", call);
    nodes.kill(1);

    Reply lost = stateless(2, "two", ANN).stateless("tools/call", call + state(asked));

    assertEquals("node_lost", lost.last().at("/error/data/code").asText(), lost.text());
    assertEquals("unknown", lost.last().at("/error/data/executed").asText(), lost.text());
  }

  @Test
  void changesReachTheNodeWithTheStream() throws Exception {
    for (int listened : ALL) {
      RoamingSession client = session(1 + listened % 3, "/mcp");
      try (BufferedReader stream = client.listen(listened)) {
        client.call(1 + (listened + 1) % 3, "two__grow", "{}");

        JsonNode notification = McpClient.nextLater(stream).get(60, TimeUnit.SECONDS);

        assertEquals("notifications/tools/list_changed", notification.path("method").asText());
      }
    }
  }

  @Test
  void streamOfOneNodeIsNotResumedAtAnother() throws Exception {
    RoamingSession client = session(1, "/mcp");
    String eventId;
    try (BufferedReader stream = client.listen(1)) {
      client.call(2, "two__grow", "{}");
      eventId =
          stream
              .lines()
              .filter(line -> line.startsWith("id:") && line.length() > 4)
              .findFirst()
              .orElseThrow()
              .substring(3)
              .strip();
    }

    for (int node : List.of(2, 3)) {
      assertEquals(400, client.resumeStatus(node, eventId), eventId);
    }
    assertEquals(200, client.resumeStatus(1, eventId));
  }

  @Test
  void logLevelIsKnownAtOtherNodes() throws Exception {
    RoamingSession client = session(1, "/servers/three/mcp");
    assertEquals(1, logged(client, 2));

    client.request(1, "logging/setLevel", "{\"level\":\"error\"}").result();

    nodes.until(() -> logged(client, 2) == 0);
    client.request(3, "logging/setLevel", "{\"level\":\"debug\"}").result();
    nodes.until(() -> logged(client, 2) == 1 && logged(client, 1) == 1);
  }

  private static int logged(RoamingSession client, int node) throws Exception {
    return client.call(node, "log", "{}").notifications("notifications/message").size();
  }

  // --- end of sessions and nodes

  @Test
  void sessionEndedAtOneNodeEndsAtAll() throws Exception {
    for (int ended : ALL) {
      RoamingSession client = session(1, "/mcp");
      for (int node : ALL) {
        assertUsed(client, node);
      }
      BufferedReader stream = client.listen(1 + ended % 3);

      assertEquals(204, client.end(ended));

      for (int node : ALL) {
        nodes.until(() -> client.request(node, "ping", "{}").status() == 404);
        assertEquals(404, client.end(node));
      }
      CompletableFuture<JsonNode> last = McpClient.nextLater(stream);
      assertThrows(Exception.class, () -> last.get(60, TimeUnit.SECONDS));
      assertTrue(last.isCompletedExceptionally());
    }
  }

  private static void assertUsed(RoamingSession client, int node) throws Exception {
    assertTrue(client.request(node, "ping", "{}").result().isEmpty());
  }

  @Test
  void sessionSurvivesTheDeathOfItsNode() throws Exception {
    RoamingSession all = session(1, "/mcp");
    RoamingSession used = session(1, "/servers/two/mcp");
    assertUsed(used, 2);

    nodes.kill(1);

    for (int node : nodes.up()) {
      assertTrue(all.call(node, "three__echo", "{\"n\":1.10}").text().contains("{\"n\":1.10}"));
      assertTrue(used.call(node, "echo", "{\"n\":1.10}").text().contains("{\"n\":1.10}"));
    }
    used.answersAt(3, question -> ",\"result\":{\"n\":1.10}");
    Reply reply = used.call(2, "ask", "{\"method\":\"sampling/createMessage\"}");
    assertTrue(reply.firstText().startsWith("result "), reply.text());
    RoamingSession bob = all.stolenBy("x-api-key", BOB);
    assertEquals(404, bob.request(2, "ping", "{}").status());
    nodes.startMissing();
    assertUsed(all, 1);
    assertEquals(204, all.end(1));
    nodes.until(() -> all.request(3, "ping", "{}").status() == 404);
  }

  @Test
  void sessionsSurviveTheDeathOfThePrimary() throws Exception {
    int primary = nodes.primary(1);
    List<RoamingSession> clients = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      clients.add(session(primary, "/mcp"));
    }

    nodes.kill(primary);

    nodes.until(() -> nodes.areMembers(nodes.up()));
    for (RoamingSession client : clients) {
      for (int node : nodes.up()) {
        assertUsed(client, node);
      }
    }
  }

  @Test
  void sessionsSurviveTheDeathOfAllNodes() throws Exception {
    RoamingSession client = session(1, "/mcp");

    for (int node : ALL) {
      nodes.kill(node);
    }
    nodes.startMissing();

    nodes.until(() -> nodes.areMembers(ALL));
    for (int node : ALL) {
      assertUsed(client, node);
    }
  }

  /** A cluster whose sessions expire after four seconds. */
  private static Nodes expiring() throws Exception {
    if (expiring == null) {
      String entry = Nodes.entry(other, "'isolation':'session','placement':['n2']");
      String config = "'http':{'sessionIdle':4},'mcpServers':{'own':" + entry + "}";
      expiring = Nodes.with(other, 3, config);
      expiring.awaitReady(List.of("own"));
    }
    return expiring;
  }

  /** One session is used at the node where it was opened, the other at another node. */
  @Test
  void sessionInUseDoesNotExpire() throws Exception {
    Nodes others = expiring();
    Map<Integer, RoamingSession> clients = new TreeMap<>();
    for (int node : List.of(1, 2)) {
      clients.put(node, new RoamingSession(others, "/mcp", NEWEST).initialize(1));
    }
    for (int i = 0; i < 6; i++) {
      long next = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_800);
      others.until(() -> System.nanoTime() - next > 0);
      for (Map.Entry<Integer, RoamingSession> client : clients.entrySet()) {
        int node = client.getKey();
        assertTrue(client.getValue().request(node, "ping", "{}").result().isEmpty());
      }
    }

    new RoamingSession(others, "/mcp", NEWEST).initialize(2);

    for (RoamingSession client : clients.values()) {
      for (int each : ALL) {
        assertTrue(client.request(each, "ping", "{}").result().isEmpty());
      }
    }
  }

  @Test
  void idleSessionExpiresWithItsProcess() throws Exception {
    Nodes others = expiring();
    RoamingSession client = new RoamingSession(others, "/servers/own/mcp", NEWEST).initialize(1);
    assertTrue(client.call(3, "echo", "{\"n\":1.10}").text().contains("{\"n\":1.10}"));
    others.until(() -> processes(others) == 2);

    others.until(() -> processes(others) == 1);

    assertEquals(404, client.request(1, "ping", "{}").status());
  }

  private static int processes(Nodes of) throws Exception {
    return of.get(2, "/servers/own").body().path("pids").size();
  }
}
