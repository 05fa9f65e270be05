package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server that keeps state, with a process for each session. */
class IsolationIT {
  private static final String OWN = "'isolation':'session'";

  @Test
  void eachSessionHasAProcessThatRemembersOnlyWhatItWasTold() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
      McpClient one = session(bridge, "{}");
      McpClient other = session(bridge, "{}");

      assertEquals("a", remember(one, "a"));
      assertEquals("b", remember(other, "b"));

      assertEquals("a c", remember(one, "c"));
      assertEquals("r", bridge.call("remember", "{\"text\":\"r\"}").said());
      assertEquals("r s", bridge.call("remember", "{\"text\":\"s\"}").said());
      JsonNode server = bridge.get("/servers/s").body();
      assertEquals(3, server.path("sessions").asInt(), server.toString());
      assertEquals(4, server.path("pids").size(), server.toString());
    }
  }

  @Test
  void aSessionThroughTheDoorOfAllServersHasItsOwnToo() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
      McpClient one = new McpClient(bridge.uri("/mcp"), "{}");
      McpClient other = new McpClient(bridge.uri("/mcp"), "{}");
      one.initialize();
      other.initialize();

      one.call("s__remember", "{\"text\":\"a\"}");

      assertEquals("b", other.call("s__remember", "{\"text\":\"b\"}").said());
      assertEquals("a c", one.call("s__remember", "{\"text\":\"c\"}").said());
    }
  }

  @Test
  void theProcessEndsWithItsSession() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
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
  void whatNobodyUsesEndsAndIsBegunAnew() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN + ",'sessionIdle':0.3")) {
      McpClient client = session(bridge, "{}");
      remember(client, "a");

      bridge.until(() -> bridge.pids("s").size() == 1);

      assertEquals("b", remember(client, "b"));
    }
  }

  @Test
  void aCallThatRunsIsNoIdleness() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN + ",'sessionIdle':0.1")) {
      McpClient client = session(bridge, "{}");

      assertEquals("slept", client.call("sleep", "{\"ms\":1000}").said());
    }
  }

  @Test
  void thereAreNoMoreThanAllowedAndTheOthersGoOn() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN + ",'maxSessions':1")) {
      McpClient first = session(bridge, "{}");
      remember(first, "a");

      Answer refused = bridge.call("remember", "{\"text\":\"r\"}");

      assertEquals(503, refused.status(), refused.toString());
      assertTrue(refused.text().contains("sessions, as many as it may"), refused.text());
      assertEquals("no", refused.body().path("executed").asText());
      assertEquals("a b", remember(first, "b"));
      first.delete();
      bridge.until(() -> bridge.call("remember", "{\"text\":\"r\"}").status() == 200);
    }
  }

  @Test
  void theDeathOfOneProcessIsFeltByItsSessionAlone() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
      McpClient one = session(bridge, "{}");
      McpClient other = session(bridge, "{}");
      remember(one, "a");
      remember(other, "b");

      one.call("exit", "{\"code\":1}");

      assertEquals("b c", remember(other, "c"));
      assertEquals("d", remember(one, "d"));
      assertEquals("ready", bridge.state("s"));
    }
  }

  @Test
  void questionsOfCallsAtTheSameTimeFindTheirClients() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
      McpClient one = session(bridge, "{\"roots\":{}}").answering(q -> "{\"roots\":[1]}");
      McpClient other = session(bridge, "{\"roots\":{}}").answering(q -> "{\"roots\":[2]}");

      CompletableFuture<String> first = asked(one);
      CompletableFuture<String> second = asked(other);

      assertEquals("result {\"roots\":[1]}", first.get(20, TimeUnit.SECONDS));
      assertEquals("result {\"roots\":[2]}", second.get(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void anApprovalFromElsewhereRunsTheCallWhereItWasAskedFor() throws Exception {
    try (CapturedLog log = new CapturedLog();
        TestBridge bridge = TestBridge.scripted(OWN + ",'risk':{'tools':{'remember':2}}")) {
      McpClient client = session(bridge, "{}");
      McpClient.Reply explained = client.call("remember", "{\"text\":\"a\"}");
      JsonNode pending = bridge.get("/confirmations").body().at("/confirmations/0");
      String id = pending.path("confirmation_id").asText();
      String token = log.token(id);
      String path = "/confirmations/" + id;
      assertFalse(explained.text().contains(token), explained.text());

      Answer approved = bridge.post(path, "{\"confirm\":true,\"token\":\"" + token + "\"}");

      assertEquals(200, approved.status(), approved + explained.said());
      assertEquals(1, bridge.get("/servers/s").body().path("sessions").asInt());
    }
  }

  @Test
  void theChangesOfAResourceAreToldToTheSessionWhoseProcessSaysSo() throws Exception {
    String server =
        "{'command':'"
            + Requirements.node()
            + "','args':['"
            + Requirements.nodeServer("fixture-server.mjs")
            + "'],"
            + OWN
            + "}";
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':" + server + "}}")) {
      McpClient one = session(bridge, "{}");
      McpClient other = session(bridge, "{}");
      BufferedReader stream = one.listen();
      String uri = "{\"uri\":\"test://watched-resource\"}";
      assertTrue(one.request("resources/subscribe", uri).result().isEmpty());
      assertTrue(other.request("resources/subscribe", uri).result().isEmpty());

      other.call("test_update_resource", "{}");
      one.call("test_trigger_tool_change", "{}");
      one.call("test_update_resource", "{}");

      JsonNode heard = McpClient.next(stream);
      assertEquals("notifications/resources/updated", heard.path("method").asText());
      bridge.until(() -> bridge.get("/servers/s").body().path("sessions").asInt() == 2);
    }
  }

  @Test
  void nothingIsLeftWhenTheBridgeStops() throws Exception {
    List<Long> pids;
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
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
  void aRestartReplacesThemAll() throws Exception {
    try (TestBridge bridge = TestBridge.scripted(OWN)) {
      McpClient client = session(bridge, "{}");
      remember(client, "a");
      List<Long> before = bridge.pids("s");

      assertEquals(200, bridge.post("/servers/s/restart", "{}").status());

      assertEquals("b", remember(client, "b"));
      assertNotEquals(before, bridge.pids("s"));
      assertTrue(bridge.pids("s").stream().noneMatch(before::contains));
    }
  }

  private static CompletableFuture<String> asked(McpClient client) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return client.call("ask", "{\"method\":\"roots/list\"}").said();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private static McpClient session(TestBridge bridge, String capabilities) throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), capabilities);
    client.initialize();
    return client;
  }

  private static String remember(McpClient client, String text) throws Exception {
    return client.call("remember", "{\"text\":\"" + text + "\"}").said();
  }
}
