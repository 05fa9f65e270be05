package dev.mcpbridge.it.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** REST calls to a scripted server. */
@Tag("rest")
@Tag("threads")
class CallsIT {
  @TempDir static Path folder;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.scripted("'env':{'EFFECTS':'" + folder.resolve("effects") + "'},'timeout':20");
  }

  @AfterEach
  void alive() throws Exception {
    bridge.assertAlive();
  }

  @Test
  void argumentsAndResultsArePassedOnVerbatim() throws Exception {
    String arguments =
        "{\"big\":9007199254740993,\"d\":1.10,\"e\":1e2,\"z\":-0,\"s\":\"\\u00e9\\/\"}";

    Answer answer = bridge.call("echo", arguments);

    assertEquals("{\"content\":[],\"structuredContent\":" + arguments + "}", answer.text());
    assertEquals("application/json", answer.header("content-type"));
    assertEquals("nosniff", answer.header("x-content-type-options"));
  }

  @Test
  void allPagesOfToolsAreListedWithUnknownFields() throws Exception {
    Answer tools = bridge.get("/servers/s/tools");

    assertTrue(tools.body().path("tools").size() > 20);
    assertTrue(tools.text().contains("\"x-unknown\":1.10"));
    assertEquals(
        304, bridge.get("/servers/s/tools", "if-none-match", tools.header("etag")).status());
  }

  @Test
  void listsArePaginatedOnRequest() throws Exception {
    List<String> names = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page = bridge.get("/servers/s/tools?limit=5" + cursor).body();
      assertTrue(page.path("tools").size() <= 5);
      page.path("tools").forEach(tool -> names.add(tool.path("name").asText()));
      cursor = page.has("nextCursor") ? "&cursor=" + page.path("nextCursor").asText() : null;
    }
    assertEquals(bridge.get("/servers/s/tools").body().path("tools").size(), names.size());
    assertEquals(400, bridge.get("/servers/s/tools?limit=-1").status());
    assertEquals(400, bridge.get("/servers/s/tools?limit=1000000000").status());
    assertEquals(400, bridge.get("/servers/s/tools?limit=1&limit=2").status());
    assertEquals(400, bridge.get("/servers/s/tools?cursor=%22%3B%20drop").status());
  }

  @Test
  void toolsAreSearchedByWords() throws Exception {
    JsonNode found = bridge.get("/tools?q=plays%20SLEEP").body().path("tools");

    assertEquals(1, found.size());
    assertEquals("s", found.get(0).path("server_id").asText());
    assertEquals("sleep", found.get(0).path("name").asText());
  }

  @Test
  void anUnknownToolIs404AndInvalidArgumentsAre422() throws Exception {
    Answer unknown = bridge.call("nope", "{}");
    assertEquals(404, unknown.status());
    assertEquals("Error executing tool nope: Unknown tool", unknown.at("/error"));

    Answer invalid = bridge.call("sleep", "{\"ms\":\"soon\"}");
    assertEquals(422, invalid.status());
    assertEquals("no", invalid.at("/executed"));
    assertTrue(invalid.body().path("errors").get(0).asText().contains("ms"), invalid.text());
  }

  @Test
  void aNullForAnOptionalPropertyIsPassedOn() throws Exception {
    assertEquals("slept", bridge.call("sleep", "{\"ms\":1,\"unknown\":null}").firstText());
    assertEquals(422, bridge.call("sleep", "{\"ms\":null}").status());
  }

  @Test
  void aPatternWithBacktrackingIsValidatedInTime() throws Exception {
    long from = System.nanoTime();

    Answer answer = bridge.call("fail", "{\"s\":\"" + "a".repeat(40) + "!\"}");

    assertEquals(422, answer.status());
    assertTrue(System.nanoTime() - from < 5_000_000_000L);
  }

  @Test
  void upstreamErrorsAre502AndToolErrorsAre200() throws Exception {
    Answer failed = bridge.call("fail", "{}");
    assertEquals(502, failed.status());
    assertEquals("Error executing tool fail: it broke", failed.at("/error"));
    assertEquals(-32000, failed.body().at("/upstream/code").asInt());
    assertEquals("application/problem+json", failed.header("content-type"));

    Answer toolError = bridge.call("tool_error", "{}");
    assertEquals(200, toolError.status());
    assertTrue(toolError.body().path("isError").asBoolean());
  }

  @Test
  void progressAndLogMessagesAreStreamedBeforeTheResult() throws Exception {
    Answer progress = bridge.call("progress", "{\"steps\":3}", "accept", "text/event-stream");

    assertEquals(List.of("progress", "progress", "progress", "result"), progress.events());
    assertTrue(progress.text().contains("\"progress\":3"));

    Answer log = bridge.call("log", "{}", "accept", "text/event-stream");
    assertTrue(log.text().contains("event: message"), log.text());
    assertTrue(log.text().contains("hello"));
  }

  @Test
  void aFailedStreamEndsWithAnErrorEvent() throws Exception {
    Answer failed = bridge.call("fail", "{}", "accept", "text/event-stream");

    assertTrue(failed.text().contains("event: error"), failed.text());
    assertTrue(failed.text().contains("upstream_error"));
  }

  @Test
  void aBackgroundCallIsPolledAndCanBeCancelled() throws Exception {
    Answer accepted = bridge.call("sleep", "{\"ms\":300}", "prefer", "respond-async");
    assertEquals(202, accepted.status());
    String location = accepted.header("location");
    assertEquals("running", accepted.at("/status"));
    bridge.until(() -> !bridge.get(location).at("/status").equals("running"));
    JsonNode done = bridge.get(location).body();
    assertEquals("done", done.path("status").asText());
    assertEquals("slept", done.at("/result/content/0/text").asText());

    int before = Integer.parseInt(bridge.call("cancels", "{}").firstText());
    String hanging = bridge.call("never", "{}", "prefer", "respond-async").header("location");
    bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() > 0);
    JsonNode cancelled = bridge.delete(hanging).body();
    assertEquals("failed", cancelled.path("status").asText());
    assertEquals("cancelled", cancelled.at("/problem/code").asText());
    bridge.until(() -> Integer.parseInt(bridge.call("cancels", "{}").firstText()) == before + 1);
    assertEquals(404, bridge.get("/calls/nope").status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json", "text/event-stream"})
  void aDisconnectedClientCancelsItsCall(String accept) throws Exception {
    int before = Integer.parseInt(bridge.call("cancels", "{}").firstText());
    try (java.net.Socket socket = new java.net.Socket("127.0.0.1", bridge.port())) {
      socket
          .getOutputStream()
          .write(
              ("POST /servers/s/tools/never HTTP/1.1\r\nHost: localhost\r\nAccept: "
                      + accept
                      + "\r\n"
                      + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                  .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() > 0);
    }
    bridge.until(() -> Integer.parseInt(bridge.call("cancels", "{}").firstText()) == before + 1);
  }

  @Test
  void parallelRetriesWithOneKeyRunOnce() throws Exception {
    Files.deleteIfExists(folder.resolve("effects"));
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      answers.add(bridge.callLater("effect", "{\"ms\":100}", "idempotency-key", "once"));
    }
    for (CompletableFuture<Answer> answer : answers) {
      assertTrue(List.of(200, 409).contains(answer.join().status()));
    }

    Answer replay = bridge.call("effect", "{\"ms\":100}", "idempotency-key", "once");
    assertEquals("done", replay.firstText());
    assertEquals(422, bridge.call("effect", "{}", "idempotency-key", "once").status());
    assertEquals(400, bridge.call("effect", "{}", "idempotency-key", "x".repeat(300)).status());
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void aBatchReturnsTheStatusOfEachCallInOrder() throws Exception {
    Answer batch =
        bridge.post(
            "/batch",
            "{\"calls\":[{\"server\":\"s\",\"tool\":\"sleep\",\"arguments\":{\"ms\":50}},"
                + "{\"server\":\"s\",\"tool\":\"nope\"},{\"server\":\"none\",\"tool\":\"x\"},"
                + "{\"server\":\"s\",\"tool\":\"echo\",\"arguments\":{\"n\":1.10}},{\"x\":1}]}");

    List<Integer> statuses = new ArrayList<>();
    batch.body().path("results").forEach(r -> statuses.add(r.path("status").asInt()));
    assertEquals(List.of(200, 404, 404, 200, 422), statuses);
    assertTrue(batch.text().contains("{\"n\":1.10}"));
    assertEquals(422, bridge.post("/batch", "{\"calls\":[]}").status());
  }

  @Test
  void aBatchThatStopsAtAnErrorSkipsTheRest() throws Exception {
    String effect = "{\"server\":\"s\",\"tool\":\"effect\",\"arguments\":{\"note\":\"batch\"}}";
    String nope = "{\"server\":\"s\",\"tool\":\"nope\"}";
    long before = Files.exists(folder.resolve("effects")) ? effects() : 0;

    Answer batch =
        bridge.post(
            "/batch",
            "{\"concurrency\":1,\"onError\":\"stop\",\"calls\":["
                + String.join(",", effect, nope, effect, effect)
                + "]}");

    List<Integer> statuses = new ArrayList<>();
    batch.body().path("results").forEach(r -> statuses.add(r.path("status").asInt()));
    assertEquals(List.of(200, 404, 424, 424), statuses);
    assertEquals("skipped", batch.at("/results/2/body/code"));
    assertEquals("no", batch.at("/results/2/body/executed"));
    assertEquals(before + 1, effects());
    for (String terms : List.of("\"concurrency\":0", "\"onError\":\"retry\"", "\"onError\":1")) {
      Answer refused = bridge.post("/batch", "{" + terms + ",\"calls\":[" + effect + "]}");
      assertEquals(422, refused.status(), refused.toString());
    }
  }

  private long effects() throws Exception {
    return Files.readAllLines(folder.resolve("effects")).size();
  }

  @Test
  void aResourceUriIsDecodedOnceAndPromptsAreRead() throws Exception {
    Answer resource = bridge.get("/servers/s/resources/test%3A%2F%2Fa%20b%2525");
    assertEquals("content of test://a b%25", resource.at("/contents/0/text"));
    assertEquals(1, bridge.get("/servers/s/resources").body().path("resources").size());
    assertEquals(
        0, bridge.get("/servers/s/resource-templates").body().path("resourceTemplates").size());
    assertEquals(1, bridge.get("/servers/s/prompts").body().path("prompts").size());
    assertNotNull(bridge.post("/servers/s/prompts/greet", "{}").body().get("messages"));
  }

  @Test
  void catalogueChangesAreDetected() throws Exception {
    int before = bridge.get("/servers/s").body().path("tool_count").asInt();

    bridge.call("grow", "{}");

    bridge.until(() -> bridge.get("/servers/s").body().path("tool_count").asInt() == before + 1);
  }

  @Test
  void aCallWithoutABodyHasNoArguments() throws Exception {
    Answer answer =
        Answer.class.cast(
            bridge
                .client()
                .sendAsync(
                    java.net.http.HttpRequest.newBuilder(bridge.uri("/servers/s/tools/echo"))
                        .POST(java.net.http.HttpRequest.BodyPublishers.noBody())
                        .build(),
                    java.net.http.HttpResponse.BodyHandlers.ofString())
                .thenApply(r -> new Answer(r.statusCode(), r.body(), r))
                .join());

    assertEquals("{\"content\":[],\"structuredContent\":{}}", answer.text());
  }

  @Test
  void responsesOfParallelCallersAreNotMixedUp() {
    for (int round = 0; round < 10; round++) {
      List<CompletableFuture<Void>> checks = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String arguments = "{\"u\":" + (round * 1000 + i) + "}";
        checks.add(
            bridge
                .callLater("echo", arguments)
                .thenAccept(
                    answer -> assertTrue(answer.text().contains(arguments), answer.text())));
      }
      CompletableFuture.allOf(checks.toArray(CompletableFuture[]::new)).join();
    }
  }

  @Test
  void theBridgesEnvironmentIsNotPassedToServers() throws Exception {
    String environment = bridge.call("env", "{}").text();

    assertTrue(environment.contains("EFFECTS="));
    assertEquals("canary", System.getenv("SECRET_OF_THE_BRIDGE"), "the POM sets it");
    assertFalse(environment.contains("SECRET_OF_THE_BRIDGE"), environment);
    System.getenv().keySet().stream()
        .filter(name -> name.startsWith("PIP_") || name.startsWith("MAVEN") || name.equals("PWD"))
        .forEach(name -> assertFalse(environment.contains("\"" + name + "="), name));
  }
}
