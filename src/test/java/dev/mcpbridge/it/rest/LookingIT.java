package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What people can look at: calls, logs of servers, what waits and what was decided. */
class LookingIT {
  private static final String ALICE = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final String TOOLS =
      "[{\"name\":\"erase\",\"description\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}]";

  private static final String NOISY =
      "printf '\\033[31mtoken is %s\\033[0m\\n' \"$API_TOKEN\" >&2\nexec sleep 600\n";

  @TempDir static Path folder;
  private static TestBridge bridge;

  @BeforeAll
  static void open() throws Exception {
    String keys =
        TestBridge.auth(
            TestBridge.key("alice", ALICE, "'read','call'"),
            TestBridge.key("bob", BOB, "'read','call'"),
            TestBridge.key("boss", BOSS, "'read','call','approve','admin','audit'"));
    Path script = Files.writeString(folder.resolve("noisy.sh"), NOISY);
    String noisy =
        "{'command':'sh','args':['%s'],'env':{'API_TOKEN':'hunter2hunter2'},'startTimeout':60}"
            .formatted(script);
    String risk = "'risk':{'tools':{'erase':2}}";
    bridge =
        TestBridge.of(
            "{%s,'pins':{'changed':'warn'},'mcpServers':{'s':%s,'noisy':%s,'t':%s}}"
                .formatted(
                    keys,
                    TestBridge.entry(""),
                    noisy,
                    CatalogueServer.entry(
                        folder.resolve("tools.json"), TOOLS.formatted("Erases."), risk)));
    for (String server : List.of("s", "t")) {
      bridge.until(
          () -> bridge.get("/servers/" + server, "x-api-key", BOSS).at("/state").equals("ready"));
    }
  }

  @AfterAll
  static void close() throws Exception {
    bridge.close();
  }

  private static JsonNode calls(String key, String name) throws Exception {
    return bridge
        .get("/calls", "x-api-key", key)
        .body()
        .path("calls")
        .valueStream()
        .filter(call -> call.path("name").asText().equals(name))
        .findFirst()
        .orElse(com.fasterxml.jackson.databind.node.MissingNode.getInstance());
  }

  @Test
  void callIsListedForItsCallerAndForAuditors() throws Exception {
    bridge.post("/servers/s/tools/fail", "{}", "x-api-key", ALICE);

    JsonNode own = calls(ALICE, "fail");

    assertEquals("ended", own.path("state").asText());
    assertEquals("failed", own.path("outcome").asText());
    assertEquals("s", own.path("server_id").asText());
    assertEquals("alice", own.path("caller").asText());
    assertEquals("rest", own.path("door").asText());
    assertFalse(own.path("code").asText().isEmpty());
    assertEquals(own, calls(BOSS, "fail"));
    assertTrue(calls(BOB, "fail").isMissingNode());
  }

  @Test
  void runningCallIsCancelledByItsCallerOnly() throws Exception {
    CompletableFuture<Answer> call =
        bridge.postLater("/servers/s/tools/never", "{}", "x-api-key", ALICE);
    bridge.until(() -> calls(ALICE, "never").path("state").asText().equals("running"));
    String path = "/calls/" + calls(ALICE, "never").path("call_id").asText();

    assertEquals(404, bridge.delete(path, "x-api-key", BOB).status());
    assertEquals(404, bridge.delete(path, "x-api-key", BOSS).status());
    assertFalse(call.isDone());
    Answer cancelled = bridge.delete(path, "x-api-key", ALICE);

    assertEquals(202, cancelled.status());
    assertEquals("running", cancelled.at("/status"));
    assertEquals("cancelled", call.get().code());
    bridge.until(() -> calls(ALICE, "never").path("outcome").asText().equals("cancelled"));
    assertEquals(404, bridge.delete(path, "x-api-key", ALICE).status());
  }

  @Test
  void busyCallerDoesNotPushOutTheCallsOfOthers() throws Exception {
    bridge.post("/servers/s/tools/answers", "{}", "x-api-key", BOB);
    for (int i = 0; i < 60; i++) {
      bridge.post("/servers/s/tools/echo", "{}", "x-api-key", ALICE);
    }

    assertFalse(calls(BOB, "answers").isMissingNode());
    JsonNode alices = bridge.get("/calls", "x-api-key", ALICE).body().path("calls");
    assertTrue(alices.size() <= 51, "calls: " + alices.size());
  }

  @Test
  void logShowsWhatAServerWroteWithoutSecrets() throws Exception {
    bridge.until(
        () ->
            bridge
                .get("/servers/noisy/log", "x-api-key", BOSS)
                .text()
                .contains("\"text\":\"token is ****\""));

    Answer log = bridge.get("/servers/noisy/log", "x-api-key", BOSS);

    assertFalse(log.text().contains("hunter2"), log.text());
    JsonNode lines = log.body().path("lines");
    assertEquals("bridge", lines.at("/0/stream").asText());
    JsonNode token =
        lines
            .valueStream()
            .filter(line -> line.path("stream").asText().equals("stderr"))
            .findFirst()
            .orElseThrow();
    assertTrue(token.path("pid").asLong() > 0);
    assertEquals(1, token.path("instance").asInt());
    Answer after =
        bridge.get("/servers/noisy/log?after=" + token.path("number"), "x-api-key", BOSS);
    assertFalse(after.text().contains("token is"), after.text());
    assertEquals(403, bridge.get("/servers/noisy/log", "x-api-key", ALICE).status());
    assertEquals(404, bridge.get("/servers/nope/log", "x-api-key", BOSS).status());
    assertEquals(400, bridge.get("/servers/s/log?after=x", "x-api-key", BOSS).status());
  }

  @Test
  void burstOfALogIsFollowedWithoutAGap() throws Exception {
    HttpResponse<java.util.stream.Stream<String>> stream =
        bridge
            .client()
            .send(
                java.net.http.HttpRequest.newBuilder(bridge.uri("/servers/s/log?after=1"))
                    .header("x-api-key", BOSS)
                    .header("accept", "text/event-stream")
                    .build(),
                HttpResponse.BodyHandlers.ofLines());
    try (var lines = stream.body()) {
      bridge.post("/servers/s/tools/stderr", "{\"bytes\":180000}", "x-api-key", BOSS);

      long noise = lines.filter(line -> line.contains("noise noise")).limit(300).count();

      assertEquals(300, noise);
    }
  }

  @Test
  void logGoesOnAsAStreamOverARestart() throws Exception {
    HttpResponse<java.util.stream.Stream<String>> stream =
        bridge
            .client()
            .send(
                java.net.http.HttpRequest.newBuilder(bridge.uri("/servers/s/log"))
                    .header("x-api-key", BOSS)
                    .header("accept", "text/event-stream")
                    .build(),
                HttpResponse.BodyHandlers.ofLines());
    try (var lines = stream.body()) {
      bridge.post("/servers/s/tools/stderr", "{\"bytes\":10}", "x-api-key", BOSS);
      bridge.post("/servers/s/restart", "{}", "x-api-key", BOSS);

      boolean[] seen = new boolean[2];
      lines
          .takeWhile(
              line -> {
                seen[0] |= line.contains("noise noise");
                seen[1] |= seen[0] && line.contains("state starting");
                return !seen[1];
              })
          .forEach(line -> {});

      assertTrue(seen[0] && seen[1]);
    }
  }

  @Test
  void reviewShowsTheDefinitionAndWhatItWas() throws Exception {
    Answer first = bridge.post("/servers/t/tools/erase", "{}", "x-api-key", ALICE);
    Answer before = bridge.get("/confirmations/" + first.at("/confirmation_id"), "x-api-key", BOSS);

    assertEquals("tool", before.at("/risk_reason"));
    assertEquals("Erases.", before.at("/definition/description"));
    assertTrue(before.body().path("definition_before").isMissingNode());
    assertTrue(before.body().path("definition_changed").isMissingNode());

    Files.writeString(folder.resolve("tools.json"), TOOLS.formatted("Erases, and tells."));
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
    Answer after = bridge.get("/confirmations/" + first.at("/confirmation_id"), "x-api-key", BOSS);
    Answer second = bridge.post("/servers/t/tools/erase", "{}", "x-api-key", ALICE);
    Answer present =
        bridge.get("/confirmations/" + second.at("/confirmation_id"), "x-api-key", BOSS);

    Answer callers =
        bridge.get("/confirmations/" + second.at("/confirmation_id"), "x-api-key", ALICE);
    assertEquals("pending", callers.at("/status"));
    assertFalse(callers.body().has("definition"), "a definition may be held from its caller");
    assertEquals("true", after.at("/definition_changed"));
    assertTrue(present.body().path("definition_changed").isMissingNode());
    assertEquals("Erases, and tells.", present.at("/definition/description"));
    assertEquals("Erases.", present.at("/definition_before/description"));
    assertEquals("[\"text_changed\"]", present.body().path("findings").toString());
  }

  @Test
  void rejectionIsListedWithItsReasonAndTold() throws Exception {
    String id =
        bridge.post("/servers/t/tools/erase", "{}", "x-api-key", ALICE).at("/confirmation_id");
    String path = "/confirmations/" + id;

    Answer long501 =
        bridge.post(
            path, "{\"confirm\":false,\"reason\":\"" + "x".repeat(501) + "\"}", "x-api-key", BOSS);
    Answer withApproval =
        bridge.post(path, "{\"confirm\":true,\"reason\":\"x\"}", "x-api-key", BOSS);
    assertEquals(422, long501.status());
    assertEquals(422, withApproval.status());
    bridge.post(path, "{\"confirm\":false,\"reason\":\"too late\"}", "x-api-key", BOSS);

    Answer told = bridge.get(path, "x-api-key", ALICE);
    assertEquals("rejected", told.at("/status"));
    assertEquals("boss", told.at("/decided_by"));
    assertEquals("too late", told.at("/reason"));
    JsonNode decided =
        bridge.get("/confirmations?state=decided", "x-api-key", BOSS).body().path("confirmations");
    assertEquals(id, decided.at("/0/confirmation_id").asText());
    assertEquals("too late", decided.at("/0/reason").asText());
    assertEquals("rejected", decided.at("/0/decision").asText());
    JsonNode bobs =
        bridge.get("/confirmations?state=decided", "x-api-key", BOB).body().path("confirmations");
    assertEquals(0, bobs.size());
    assertEquals(422, bridge.get("/confirmations?state=x", "x-api-key", BOSS).status());
  }

  @Test
  void consoleIsServedWithAStrictPolicyAndCanBeSwitchedOff() throws Exception {
    Answer page = bridge.get("/console");
    String policy = page.header("content-security-policy");

    assertEquals(200, page.status());
    assertTrue(policy.contains("script-src 'self';"), policy);
    assertTrue(policy.contains("style-src 'self';"), policy);
    assertTrue(policy.contains("require-trusted-types-for 'script'"), policy);
    assertFalse(policy.contains("unsafe"), policy);
    assertFalse(page.text().contains("<style") || page.text().contains("onclick"), page.text());
    Answer known = bridge.get("/console/main.js", "if-none-match", etag("/console/main.js"));
    assertEquals(304, known.status());
    try (TestBridge without = TestBridge.of("{'http':{'console':false},'mcpServers':{}}")) {
      assertEquals(404, without.get("/console").status());
      assertEquals(404, without.get("/console/main.js").status());
      assertFalse(without.get("/").text().contains("console"));
    }
  }

  private static String etag(String path) throws Exception {
    return bridge.get(path).header("etag");
  }
}
