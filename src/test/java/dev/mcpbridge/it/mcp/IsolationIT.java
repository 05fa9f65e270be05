package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A stateful server with one process per session. */
@Tag("mcp")
@Tag("threads")
class IsolationIT {
  private static final String PER_SESSION = "'isolation':'session'";

  @Test
  void eachSessionHasItsOwnProcessAndState() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      McpClient firstClient = session(bridge, "{}");
      McpClient secondClient = session(bridge, "{}");

      assertEquals("a", remember(firstClient, "a"));
      assertEquals("b", remember(secondClient, "b"));

      assertEquals("a c", remember(firstClient, "c"));
      assertEquals("r", bridge.call("remember", "{\"text\":\"r\"}").firstText());
      assertEquals("r s", bridge.call("remember", "{\"text\":\"s\"}").firstText());
      JsonNode server = bridge.get("/servers/s").body();
      assertEquals(3, server.path("sessions").asInt(), server.toString());
      assertEquals(4, server.path("pids").size(), server.toString());
    }
  }

  @Test
  void callersHaveAProcessEachWhateverTheirSessions() throws Exception {
    String alice = ApiKeys.generate();
    String bob = ApiKeys.generate();
    String config =
        "{%s,'mcpServers':{'s':%s}}"
            .formatted(
                TestBridge.auth(
                    TestBridge.key("alice", alice, "'read','call'"),
                    TestBridge.key("bob", bob, "'read','call'")),
                TestBridge.entry("'isolation':'caller'"));
    try (TestBridge bridge = TestBridge.of(config)) {
      McpClient first = new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", alice);
      McpClient second = new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", alice);
      McpClient other = new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", bob);
      first.initialize();
      second.initialize();
      other.initialize();

      assertEquals("a", remember(first, "a"));
      assertEquals("b", remember(other, "b"));
      assertEquals("a c", remember(second, "c"));
      first.delete();

      assertEquals("a c d", remember(second, "d"));
      assertEquals(2, bridge.get("/servers/s", "x-api-key", bob).body().path("sessions").asInt());
    }
  }

  @Test
  void sessionsOfTheAggregatedEndpointAreIsolatedToo() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      McpClient firstClient = new McpClient(bridge.uri("/mcp"), "{}");
      McpClient secondClient = new McpClient(bridge.uri("/mcp"), "{}");
      firstClient.initialize();
      secondClient.initialize();

      firstClient.call("s__remember", "{\"text\":\"a\"}");

      assertEquals("b", secondClient.call("s__remember", "{\"text\":\"b\"}").firstText());
      assertEquals("a c", firstClient.call("s__remember", "{\"text\":\"c\"}").firstText());
    }
  }

  @Test
  void aSessionsProcessEndsWithTheSession() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      long shared = bridge.pids("s").get(0);
      McpClient client = session(bridge, "{}");
      remember(client, "a");
      List<Long> both = bridge.pids("s");
      assertEquals(2, both.size());

      assertEquals(204, client.delete());

      bridge.until(() -> bridge.pids("s").equals(List.of(shared)));
      bridge.until(() -> !ProcessHandle.of(both.get(1)).map(ProcessHandle::isAlive).orElse(false));
    }
  }

  @Test
  void anIdleProcessEndsAndIsRestartedOnDemand() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION + ",'sessionIdle':0.3")) {
      McpClient client = session(bridge, "{}");
      remember(client, "a");

      bridge.until(() -> bridge.pids("s").size() == 1);

      assertEquals("b", remember(client, "b"));
    }
  }

  @Test
  void aRunningCallPreventsTheIdleTimeout() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION + ",'sessionIdle':0.1")) {
      McpClient client = session(bridge, "{}");

      assertEquals("slept", client.call("sleep", "{\"ms\":1000}").firstText());
    }
  }

  @Test
  void theNumberOfSessionProcessesIsLimited() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION + ",'maxSessions':1")) {
      McpClient first = session(bridge, "{}");
      remember(first, "a");

      Answer refused = bridge.call("remember", "{\"text\":\"r\"}");

      assertEquals(503, refused.status(), refused.toString());
      assertTrue(refused.text().contains("has reached its limit of sessions"), refused.text());
      assertEquals("no", refused.at("/executed"));
      assertEquals("a b", remember(first, "b"));
      first.delete();
      bridge.until(() -> bridge.call("remember", "{\"text\":\"r\"}").status() == 200);
    }
  }

  @Test
  void aCrashedProcessAffectsOnlyItsSession() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      McpClient firstClient = session(bridge, "{}");
      McpClient secondClient = session(bridge, "{}");
      remember(firstClient, "a");
      remember(secondClient, "b");

      firstClient.call("exit", "{\"code\":1}");

      assertEquals("b c", remember(secondClient, "c"));
      assertEquals("d", remember(firstClient, "d"));
      assertEquals("ready", bridge.state("s"));
    }
  }

  @Test
  void concurrentServerRequestsReachTheirClients() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      McpClient firstClient =
          session(bridge, "{\"roots\":{}}").withRequestHandler(q -> "{\"roots\":[1]}");
      McpClient secondClient =
          session(bridge, "{\"roots\":{}}").withRequestHandler(q -> "{\"roots\":[2]}");

      CompletableFuture<String> first = callAsk(firstClient);
      CompletableFuture<String> second = callAsk(secondClient);

      assertEquals("result {\"roots\":[1]}", first.get(20, TimeUnit.SECONDS));
      assertEquals("result {\"roots\":[2]}", second.get(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void anApprovedCallRunsInTheProcessOfItsSession() throws Exception {
    try (CapturedLog log = new CapturedLog();
        TestBridge bridge = TestBridge.scripted(PER_SESSION + ",'risk':{'tools':{'remember':2}}")) {
      McpClient client = session(bridge, "{}");
      McpClient.Reply explained = client.call("remember", "{\"text\":\"a\"}");
      JsonNode pending = bridge.get("/confirmations").body().at("/confirmations/0");
      String id = pending.path("confirmation_id").asText();
      String token = log.token(id);
      String path = "/confirmations/" + id;
      assertFalse(explained.text().contains(token), explained.text());

      Answer approved = bridge.post(path, "{\"confirm\":true,\"token\":\"" + token + "\"}");

      assertEquals(200, approved.status(), approved + explained.firstText());
      assertEquals(1, bridge.get("/servers/s").body().path("sessions").asInt());
    }
  }

  @Test
  void aResourceUpdateReachesOnlyTheSessionOfItsProcess() throws Exception {
    String server = NodeFixture.stdio(PER_SESSION);
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':" + server + "}}")) {
      McpClient firstClient = session(bridge, "{}");
      McpClient secondClient = session(bridge, "{}");
      BufferedReader stream = firstClient.listen();
      String uri = "{\"uri\":\"test://watched-resource\"}";
      assertTrue(firstClient.request("resources/subscribe", uri).result().isEmpty());
      assertTrue(secondClient.request("resources/subscribe", uri).result().isEmpty());

      secondClient.call("test_update_resource", "{}");
      firstClient.call("test_trigger_tool_change", "{}");
      firstClient.call("test_update_resource", "{}");

      JsonNode notification = McpClient.next(stream);
      assertEquals("notifications/resources/updated", notification.path("method").asText());
      bridge.until(() -> bridge.get("/servers/s").body().path("sessions").asInt() == 2);
    }
  }

  @Test
  void noProcessIsLeftAfterTheBridgeStops() throws Exception {
    List<Long> pids;
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      McpClient leaving = session(bridge, "{}");
      remember(leaving, "a");
      remember(session(bridge, "{}"), "b");
      pids = bridge.pids("s");
      assertEquals(3, pids.size());
      leaving.delete();
    }

    for (long pid : pids) {
      assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false), "" + pid);
    }
  }

  @Test
  void aRestartReplacesAllSessionProcesses() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(PER_SESSION)) {
      McpClient client = session(bridge, "{}");
      remember(client, "a");
      List<Long> before = bridge.pids("s");

      assertEquals(200, bridge.post("/servers/s/restart", "{}").status());

      assertEquals("b", remember(client, "b"));
      assertNotEquals(before, bridge.pids("s"));
      assertTrue(bridge.pids("s").stream().noneMatch(before::contains));
    }
  }

  private static CompletableFuture<String> callAsk(McpClient client) {
    return Background.call(() -> client.call("ask", "{\"method\":\"roots/list\"}").firstText());
  }

  private static McpClient session(TestBridge bridge, String capabilities) throws Exception {
    return new McpClient(bridge.uri("/servers/s/mcp"), capabilities).initialized();
  }

  private static String remember(McpClient client, String text) throws Exception {
    return client.call("remember", "{\"text\":\"" + text + "\"}").firstText();
  }
}
