package dev.mcpbridge.it.stdio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Misbehaving upstream processes. */
@Tag("stdio")
@Tag("slow")
@Tag("threads")
class StdioFaultsIT {
  @TempDir Path folder;

  @Test
  void callsOfAKilledProcessFailAtOnceAndAreNotRepeated() throws Exception {
    Path effects = folder.resolve("effects");
    try (TestBridge bridge = TestBridge.scripted("'env':{'EFFECTS':'" + effects + "'}")) {
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        calls.add(bridge.callLater("effect", "{\"ms\":60000}"));
      }
      bridge.until(() -> Files.exists(effects) && Files.readAllLines(effects).size() == 20);

      ProcessHandle.of(bridge.pids("s").get(0)).orElseThrow().destroyForcibly();
      long from = System.nanoTime();

      for (CompletableFuture<Answer> call : calls) {
        Answer failed = call.get(5, TimeUnit.SECONDS);
        assertEquals(502, failed.status());
        assertEquals("upstream_crashed", failed.code());
        assertEquals("unknown", failed.at("/executed"));
      }
      assertTrue(System.nanoTime() - from < Duration.ofSeconds(5).toNanos());
      bridge.assertAlive();
      assertEquals(20, Files.readAllLines(effects).size());
      assertEquals(1, bridge.get("/servers/s").body().path("restarts").asInt());
    }
  }

  @Test
  void invalidLinesAreSkipped() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("", "--banner")) {
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        calls.add(bridge.callLater("garbage", "{}"));
        calls.add(bridge.callLater("echo", "{\"m\":1}"));
      }
      calls.forEach(call -> assertEquals(200, call.join().status()));
      assertEquals("grüße 🎉 {\"x\":\"ü\"}", bridge.call("bytewise", "{\"x\":\"ü\"}").firstText());
      assertEquals("fine", bridge.call("decorated", "{}").firstText());
      assertEquals("first", bridge.call("twice", "{}").firstText());
      assertEquals("mine", bridge.call("strangers", "{}").firstText());
      JsonNode server = bridge.get("/servers/s").body();
      assertTrue(server.path("garbage_lines").asInt() >= 300, server.toString());
      assertEquals(0, server.path("restarts").asInt());
      bridge.assertAlive();
    }
  }

  @Test
  void onlyMessagesOverTheLimitAreLost() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      assertEquals(70_000, bridge.call("big", "{\"size\":70000}").firstText().length());
      assertEquals(
          15 << 20, bridge.call("big", "{\"size\":" + (15 << 20) + "}").firstText().length());

      Answer tooLarge = bridge.call("big", "{\"size\":" + (17 << 20) + "}");
      assertEquals(502, tooLarge.status());
      assertEquals("response_too_large", tooLarge.code());
      assertEquals("yes", tooLarge.at("/executed"));
      assertEquals(502, bridge.call("endless", "{\"bytes\":50000000}").status());
      assertEquals(0, bridge.get("/servers/s").body().path("restarts").asInt());
      bridge.assertAlive();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"endless", "babble"})
  void aServerThatStopsSpeakingMcpIsReplaced(String tool) throws Exception {
    try (TestBridge bridge = TestBridge.scripted("'timeout':50")) {
      Answer answer = bridge.call(tool, "{\"bytes\":2000000000}");

      assertEquals(502, answer.status());
      assertEquals("upstream_crashed", answer.code());
      assertEquals("unknown", answer.at("/executed"));
      bridge.assertAlive();
      assertEquals(1, bridge.get("/servers/s").body().path("restarts").asInt());
    }
  }

  @Test
  void aHangingCallIsCancelledAtItsDeadline() throws Exception {
    try (TestBridge bridge =
        TestBridge.scripted("'tools':{'never':{'timeout':0.3}},'maxInFlight':10")) {
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        calls.add(bridge.callLater("never", "{}"));
      }
      for (CompletableFuture<Answer> call : calls) {
        Answer late = call.join();
        assertEquals(504, late.status());
        assertEquals("unknown", late.at("/executed"));
        assertTrue(late.at("/error").contains("Request to s timed out after"));
      }
      bridge.until(() -> bridge.call("cancels", "{}").firstText().equals("10"));
      bridge.assertAlive();
    }
  }

  @Test
  void floodsOfNotificationsAndStderrAreHarmless() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("'timeout':60")) {
      assertEquals("flooded", bridge.call("flood", "{\"count\":300000}").firstText());
      assertEquals("said", bridge.call("stderr", "{\"bytes\":10485760}").firstText());
      assertTrue(bridge.get("/servers/s").body().path("dropped_messages").asInt() > 0);
      bridge.assertAlive();
    }
  }

  @Test
  void requestsOfTheServerAreAnsweredOrRefused() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      assertEquals("result {}", bridge.call("ask", "{\"method\":\"ping\"}").firstText());
      for (String method : List.of("sampling/createMessage", "roots/list", "elicitation/create")) {
        String said = bridge.call("ask", "{\"method\":\"" + method + "\"}").firstText();
        assertTrue(said.startsWith("error") && said.contains("-32601"), said);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"5", "\"text\"", "[]", "{\"content\":\"none\"}"})
  void anInvalidResultIsAProtocolError(String result) throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      Answer answer = bridge.call("bad_result", "{\"result\":" + result + "}");

      assertEquals(502, answer.status());
      assertEquals("upstream_protocol_error", answer.code());
    }
  }

  @Test
  void depthOfAResultIsBounded() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      assertEquals(200, bridge.call("bad_result", "{\"depth\":100}").status());

      for (int depth : new int[] {2_000, 200_000}) {
        Answer answer = bridge.call("bad_result", "{\"depth\":" + depth + "}");
        assertEquals(502, answer.status(), answer.text().substring(0, 200));
        bridge.assertAlive();
      }
    }
  }

  @Test
  void aProcessThatClosesItsStdoutIsReplaced() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      long pid = bridge.pids("s").get(0);

      Answer answer = bridge.call("close_stdout", "{}");

      assertEquals(502, answer.status());
      bridge.until(() -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
      bridge.assertAlive();
    }
  }

  @Test
  void aServerThatDoesNotReadDoesNotAffectOthers() throws Exception {
    String config =
        "{'limits':{'messageBytes':65536},'mcpServers':{'s':"
            + TestBridge.entry("")
            + ",'blocked':"
            + TestBridge.entry("'timeout':1,'maxInFlight':1000")
            + "}}";
    try (TestBridge bridge = TestBridge.of(config)) {
      bridge.post("/servers/blocked/tools/deaf", "{}");
      String large = "{\"x\":\"" + "y".repeat(60_000) + "\"}";
      List<CompletableFuture<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        calls.add(
            bridge
                .client()
                .sendAsync(
                    bridge.posting("/servers/blocked/tools/echo", large).build(),
                    java.net.http.HttpResponse.BodyHandlers.discarding())
                .thenApply(java.net.http.HttpResponse::statusCode));
      }
      bridge.assertAlive();
      List<Integer> statuses = calls.stream().map(CompletableFuture::join).toList();
      assertTrue(statuses.contains(503) && statuses.contains(504), statuses.toString());
    }
  }

  @Test
  void aFailedStartIsRetriedWithBackoffAndReported() throws Exception {
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'s':" + TestBridge.entry("", "--exit") + "}}")) {
      bridge.until(() -> bridge.get("/servers/s").body().path("restarts").asInt() >= 2);
      JsonNode server = bridge.get("/servers/s").body();
      assertTrue(
          server.path("last_error").asText().contains("refusing to start, for the test"),
          server.toString());

      Answer refused = bridge.call("echo", "{}");
      assertTrue(List.of(502, 503).contains(refused.status()), refused.text());
      assertEquals("no", refused.at("/executed"));
    }
  }

  @Test
  void theTimeoutOfACallIncludesASlowStart() throws Exception {
    String entry =
        TestBridge.entry("'timeout':10,'tools':{'sleep':{'timeout':1.2}}", "--slow-init", "1000");
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':" + entry + "}}")) {
      long begun = System.nanoTime();

      Answer answer = bridge.call("sleep", "{\"ms\":1000}");

      long millis = (System.nanoTime() - begun) / 1_000_000;
      assertEquals(504, answer.status(), answer.toString());
      assertTrue(millis < 2_200, "after " + millis + " ms");
    }
  }

  @Test
  void aCallWhoseTimeoutPassesDuringTheStartIsAnswered() throws Exception {
    String entry = TestBridge.entry("'tools':{'echo':{'timeout':0.2}}", "--slow-init", "3000");
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':" + entry + "}}")) {
      Answer answer = bridge.callLater("echo", "{}").get(20, TimeUnit.SECONDS);

      assertEquals(504, answer.status(), answer.toString());
      assertEquals("no", answer.body().path("executed").asText(), answer.toString());
    }
  }

  @Test
  void callsDuringASlowStartWaitForIt() throws Exception {
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'s':" + TestBridge.entry("", "--slow-init", "5000") + "}}")) {
      assertEquals(503, bridge.get("/health/ready").status());
      bridge.assertAlive();
      assertEquals(200, bridge.get("/health/ready").status());
    }
  }

  /** Like a server that {@code npx} or {@code uvx} has to download first. */
  @Test
  void theEraOfASlowlyStartingServerIsDetected() throws Exception {
    String java =
        TestBridge.java() + " " + String.join(" ", TestBridge.javaArgs(ExactServer.class));
    String entry = "{'command':'sh','args':['-c','sleep 3.5; exec " + java + "']}";
    try (TestBridge bridge = TestBridge.serving(entry)) {

      JsonNode server = bridge.get("/servers/s").body();
      assertEquals("2026-07-28", server.path("protocol_version").asText(), server.toString());
    }
  }

  @Test
  void aLazyServerStartsWithItsFirstCall() throws Exception {
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'s':" + TestBridge.entry("'start':'lazy'") + "}}")) {
      assertEquals("stopped", bridge.state("s"));
      assertEquals(200, bridge.get("/health/ready").status());

      bridge.assertAlive();

      assertEquals("ready", bridge.state("s"));
    }
  }

  @Test
  void missedHeartbeatsReplaceAHungServer() throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'s':" + TestBridge.entry("'heartbeat':0.3", "--mute") + "}}")) {
      bridge.until(() -> bridge.state("s").equals("degraded"));
      bridge.until(() -> bridge.get("/servers/s").body().path("restarts").asInt() >= 1);
      assertTrue(bridge.get("/servers/s").at("/last_error").contains("heartbeat"));
    }
  }

  /** With permanently pending calls, and with calls that exceed their deadlines. */
  @ParameterizedTest
  @ValueSource(strings = {"'heartbeat':1,'timeout':60", "'heartbeat':3,'timeout':0.2"})
  void aHungServerIsReplacedDespiteNewCalls(String times) throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
                "{'mcpServers':{'s':%s,'neighbour':%s}}"
                    .formatted(TestBridge.entry(times + ",'maxInFlight':10"), TestBridge.entry("")))
            .awaitReady("s", "neighbour")) {
      new ProcessBuilder("kill", "-STOP", bridge.pids("s").get(0).toString()).start().waitFor();

      bridge.until(
          () -> {
            bridge.callLater("echo", "{\"m\":\"x\"}");
            assertEquals(200, bridge.post("/servers/neighbour/tools/echo", "{}").status());
            return bridge.get("/servers/s").body().path("restarts").asInt() >= 1;
          });

      bridge.until(() -> bridge.call("echo", "{\"m\":\"x\"}").status() == 200);
    }
  }

  @Test
  void simultaneousRestartsCountAsOne() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("", "--slow-init", "1000")) {
      CompletableFuture<Answer> first = bridge.postLater("/servers/s/restart", "");
      bridge.until(() -> !bridge.state("s").equals("ready"));
      assertEquals(200, bridge.post("/servers/s/restart", "").status());
      assertEquals(200, first.get(20, TimeUnit.SECONDS).status());

      assertEquals(1, bridge.get("/servers/s").body().path("restarts").asInt());
    }
  }

  @Test
  void cyclicListsFailAndLargeOnesAreRead() throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'cyclic':"
                + TestBridge.entry("", "--cyclic")
                + ",'s':"
                + TestBridge.entry("", "--more-tools", "10000", "--page", "500")
                + "}}")) {
      bridge.until(() -> bridge.state("cyclic").equals("failed"));
      assertTrue(bridge.get("/servers/cyclic").at("/last_error").contains("cursor"));
      bridge.until(() -> bridge.get("/servers/s").body().path("tool_count").asInt() > 10_000);
      bridge.assertAlive();
    }
  }

  @Test
  void aLongListIsReadAndAnEndlessOneFailsInTime() throws Exception {
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'endless':"
                + TestBridge.entry("'startTimeout':5", "--endless-list")
                + ",'s':"
                + TestBridge.entry("", "--more-tools", "3000", "--page", "1")
                + "}}")) {
      bridge.until(() -> bridge.get("/servers/s").body().path("tool_count").asInt() > 3_000);
      bridge.until(() -> bridge.state("endless").equals("failed"));

      String error = bridge.get("/servers/endless").at("/last_error");
      assertTrue(error.contains("pages") || error.contains("timed out"), error);
      bridge.assertAlive();
    }
  }

  @Test
  void aFullQueueRefusesCallsAtOnce() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("'maxInFlight':1,'maxQueued':2,'timeout':30")) {
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      calls.add(bridge.callLater("sleep", "{\"ms\":3000}"));
      bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() == 1);
      for (int i = 0; i < 5; i++) {
        calls.add(bridge.callLater("sleep", "{\"ms\":1}"));
      }
      List<Answer> answers = calls.stream().map(CompletableFuture::join).toList();

      assertEquals(3, answers.stream().filter(a -> a.status() == 200).count());
      Answer full = answers.stream().filter(a -> a.status() == 503).findFirst().orElseThrow();
      assertEquals("queue_full", full.code());
      assertEquals("1", full.header("retry-after"));
      bridge.assertAlive();
    }
  }

  @Test
  void instancesOfAServerShareItsCalls() throws Exception {
    try (TestBridge bridge =
        TestBridge.scripted("'instances':3,'maxInFlight':1", "--slow-init", "1000")) {
      bridge.until(() -> bridge.pids("s").size() == 3 && bridge.state("s").equals("ready"));
      long from = System.nanoTime();
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        calls.add(bridge.callLater("sleep", "{\"ms\":3000}"));
      }
      calls.forEach(call -> assertEquals(200, call.join().status()));
      assertTrue(System.nanoTime() - from < Duration.ofMillis(8000).toNanos());

      ProcessHandle.of(bridge.pids("s").get(0)).orElseThrow().destroyForcibly();
      bridge.until(() -> bridge.state("s").equals("degraded"));
      bridge.assertAlive();
      bridge.awaitReady("s");
    }
  }
}
