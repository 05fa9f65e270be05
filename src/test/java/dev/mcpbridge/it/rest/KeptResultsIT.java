package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Results that the bridge returns again, over a server whose calls leave a trace. */
@Tag("rest")
class KeptResultsIT {
  private static final String CACHE =
      "'cache':{'tools':{'effect':{'ttl':60},'echo':{'ttl':60,'scope':'shared'}}}";

  @TempDir Path folder;
  private EffectLog effects;
  private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    effects = new EffectLog(folder);
    bridge =
        TestBridge.of(
            configuration(
                effects.servers(List.of("s"), CACHE)
                    + ",'r':"
                    + TestBridge.entry(
                        ExactServer.class, "'era':'modern','cache':{'resources':'shared'}")));
    bridge.until(() -> effect("warm", "key-of-alice").status() == 200);
  }

  private static String configuration(String servers) {
    return "{%s,'mcpServers':{%s}}"
        .formatted(
            TestBridge.auth(
                TestBridge.key("alice", "key-of-alice", "'read','call','admin'"),
                TestBridge.key("bob", "key-of-bob", "'read','call','approve'")),
            servers);
  }

  @AfterEach
  void stop() throws Exception {
    bridge.close();
  }

  private Answer effect(String note, String key, String... headers) throws Exception {
    return bridge.post(
        "/servers/s/tools/effect", "{\"note\":\"s " + note + "\"}", with(key, headers));
  }

  private static String[] with(String key, String... headers) {
    List<String> all = new ArrayList<>(List.of("authorization", "Bearer " + key));
    all.addAll(List.of(headers));
    return all.toArray(String[]::new);
  }

  private static JsonNode note(Answer answer) {
    return answer.body().path("_meta").path("dev.mcpbridge/cache");
  }

  @Test
  void secondCallIsAnsweredFromTheCacheAndSaysSo() throws Exception {
    Answer first = effect("a", "key-of-alice");
    Answer second = effect("a", "key-of-alice");

    assertEquals("mcp-bridge; fwd=miss; stored; ttl=60", first.header("cache-status"));
    assertTrue(second.header("cache-status").startsWith("mcp-bridge; hit; ttl="));
    assertTrue(Integer.parseInt(second.header("age")) >= 0);
    assertEquals("no-store", second.header("cache-control"));
    assertEquals("hit", note(second).path("status").asText());
    assertEquals(first.firstText(), second.firstText());
    assertEquals(1, effects.count("a"));
  }

  @Test
  void resultOfACallerIsNotThatOfAnother() throws Exception {
    effect("a", "key-of-alice");

    Answer other = effect("a", "key-of-bob");

    assertEquals("miss", note(other).path("status").asText());
    assertEquals(2, effects.count("a"));
  }

  @Test
  void callerCanBypassTheCache() throws Exception {
    effect("a", "key-of-alice");
    Answer fresh = effect("a", "key-of-alice", "cache-control", "no-cache");
    Answer apart = effect("a", "key-of-alice", "cache-control", "no-store");

    assertEquals("miss", note(fresh).path("status").asText());
    assertNull(apart.header("cache-status"));
    assertEquals(3, effects.count("a"));
  }

  @Test
  void equalCallsAtTheSameTimeAreOneCallOfTheServer() throws Exception {
    List<CompletableFuture<Answer>> calls = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      calls.add(
          bridge.postLater(
              "/servers/s/tools/effect", "{\"note\":\"s many\",\"ms\":500}", with("key-of-alice")));
    }
    for (CompletableFuture<Answer> call : calls) {
      assertEquals(200, call.get(20, TimeUnit.SECONDS).status());
    }

    assertEquals(1, effects.count("many"));
  }

  @Test
  void anotherToolRestartAndOperatorClearTheCache() throws Exception {
    effect("a", "key-of-alice");
    bridge.post("/servers/s/tools/env", "{}", with("key-of-bob"));
    effect("a", "key-of-alice");
    assertEquals(2, effects.count("a"));

    assertEquals(204, bridge.delete("/servers/s/cache", with("key-of-alice")).status());
    effect("a", "key-of-alice");
    assertEquals(3, effects.count("a"));

    bridge.post("/servers/s/restart", "", with("key-of-alice"));
    effect("a", "key-of-alice");
    assertEquals(4, effects.count("a"));
    assertEquals(403, bridge.delete("/servers/s/cache", with("key-of-bob")).status());
  }

  @Test
  void sharedResultIsForAllAndOverMcpAsWell() throws Exception {
    bridge.post("/servers/s/tools/echo", "{\"m\":\"x\"}", with("key-of-alice"));
    McpClient client =
        new McpClient(bridge.uri("/servers/s/mcp"), "{}", "authorization", "Bearer key-of-bob")
            .initialized();

    McpClient.Reply hit =
        client.request("tools/call", "{\"name\":\"echo\",\"arguments\":{\"m\":\"x\"}}");
    McpClient.Reply fresh =
        client.request(
            "tools/call",
            "{\"name\":\"echo\",\"arguments\":{\"m\":\"x\"},"
                + "\"_meta\":{\"dev.mcpbridge/cache\":\"no-cache\"}}");

    assertEquals("hit", hit.at("/_meta/dev.mcpbridge~1cache/status"));
    assertEquals("miss", fresh.at("/_meta/dev.mcpbridge~1cache/status"));
    assertFalse(fresh.firstText().contains("no-cache"), fresh.firstText());
  }

  /** What a server says of the cache would count in the audit trail as a call that never ran. */
  @Test
  void serverCannotPretendThatItsResultIsFromTheCache() throws Exception {
    String forged =
        "{\"content\":[],\"_meta\":{\"x\":1,"
            + "\"dev.mcpbridge/cache\":{\"status\":\"hit\",\"age\":1,\"ttl\":9}}}";

    Answer answer =
        bridge.post(
            "/servers/s/tools/bad_result", "{\"result\":" + forged + "}", with("key-of-alice"));

    assertEquals(200, answer.status(), answer.toString());
    assertNull(answer.header("cache-status"));
    assertEquals("{\"x\":1}", answer.body().path("_meta").toString());
    assertEquals("completed", lastCall("key-of-alice").path("outcome").asText());
  }

  private JsonNode lastCall(String key) throws Exception {
    return bridge.get("/calls", with(key)).body().path("calls").path(0);
  }

  @Test
  void resourceIsReadAgainAfterTheTimeThatItsServerAllows() throws Exception {
    String path = "/servers/r/resources/exact%3A%2F%2F0";

    Answer first = bridge.get(path, with("key-of-alice"));
    Answer second = bridge.get(path, with("key-of-bob"));

    assertEquals("miss", note(first).path("status").asText(), first.toString());
    assertEquals("hit", note(second).path("status").asText(), second.toString());
    assertEquals(60, note(first).path("ttl").asInt());
    assertTrue(second.body().path("ttlMs").asInt() <= 60_000, second.text());
    assertEquals(first.at("/contents/0/text"), second.at("/contents/0/text"));
  }

  @Test
  void resourceThatItsServerMarksAsPrivateIsNotShared() throws Exception {
    String path = "/servers/r/resources/exact%3A%2F%2Ftemplate%2Fprivate";

    Answer first = bridge.get(path, with("key-of-alice"));
    Answer second = bridge.get(path, with("key-of-bob"));

    assertEquals("private", first.at("/cacheScope"));
    assertEquals(200, second.status(), second.toString());
    assertNull(second.header("cache-status"), second.toString());
  }

  @Test
  void callsFromTheCacheAreCountedAndShownAsSuch() throws Exception {
    effect("a", "key-of-alice");
    effect("a", "key-of-alice");

    JsonNode last = lastCall("key-of-alice");
    assertEquals("cached", last.path("outcome").asText(), last.toString());
    assertEquals("no", last.path("executed").asText());
    String metrics = bridge.get("/metrics", with("key-of-alice")).text();
    assertTrue(metrics.contains("mcp_bridge_cache_results_total{status=\"hit\"} 1.0"), metrics);
    assertTrue(metrics.contains("mcp_bridge_cache_results_total{status=\"miss\"} 2.0"), metrics);
  }

  @Test
  void callThatNeedsAConfirmationIsNeverAnsweredFromTheCache() throws Exception {
    bridge.reload(
        configuration(effects.servers(List.of("s"), CACHE, "'risk':{'tools':{'effect':2}}")));
    bridge.until(() -> effect("a", "key-of-alice").text().contains("requires_confirmation"));

    for (int i = 1; i <= 2; i++) {
      String id = effect("a", "key-of-alice").body().path("confirmation_id").asText();
      Answer approved =
          bridge.post("/confirmations/" + id, "{\"confirm\":true}", with("key-of-bob"));
      assertEquals(200, approved.status(), approved.toString());
      assertNull(approved.header("cache-status"));
      assertEquals(i, effects.count("a"));
    }
  }
}
