package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Urgent calls and others at a server that has no slot left. */
@Tag("access")
class PrioritiesIT {
  private static final String ON_CALL = ApiKeys.generate();
  private static final String USUAL = ApiKeys.generate();
  private static final String[] AS_USUAL = {"x-api-key", USUAL};
  private static final String CONFIG =
      "{"
          + TestBridge.auth(
              TestBridge.key("on-call", ON_CALL, "'read','call'", "'on-call'"),
              TestBridge.key("usual", USUAL, "'read','call'"))
          + ",'priorities':[{'who':{'roles':['on-call']},'mostUrgent':0}],'mcpServers':{%s}}";

  @TempDir private Path folder;
  private EffectLog effectLog;

  @BeforeEach
  void logEffects() {
    effectLog = new EffectLog(folder);
  }

  private TestBridge open(String... keys) throws Exception {
    TestBridge bridge = TestBridge.of(CONFIG.formatted(effectLog.servers(List.of("s"), keys)));
    bridge.until(() -> bridge.get("/servers/s", AS_USUAL).text().contains("\"ready\""));
    return bridge;
  }

  private static CompletableFuture<Answer> sleeping(
      TestBridge bridge, int millis, String key, String urgency) {
    return bridge.callLater(
        "sleep", "{\"ms\":" + millis + "}", "x-api-key", key, "priority", urgency);
  }

  private static long queued(TestBridge bridge) throws Exception {
    return bridge.get("/servers/s", AS_USUAL).body().path("queued_calls").asLong();
  }

  private static void awaitQueued(TestBridge bridge, int calls) throws Exception {
    bridge.until(() -> queued(bridge) == calls);
  }

  /** The notes of calls in the order in which the server ran them. */
  private List<String> orderOf(List<CompletableFuture<Answer>> calls) throws Exception {
    for (CompletableFuture<Answer> call : calls) {
      assertEquals(200, call.join().status(), call.join().toString());
    }
    return effectLog.effects().stream().map(EffectLog.Effect::note).toList();
  }

  private static CompletableFuture<Answer> noting(
      TestBridge bridge, String note, String key, String urgency) {
    return bridge.callLater("effect", note(note), "x-api-key", key, "priority", urgency);
  }

  private static String note(String note) {
    return "{\"note\":\"s " + note + "\"}";
  }

  /** A call that has the only slot for a while. */
  private static CompletableFuture<Answer> busy(TestBridge bridge) throws Exception {
    CompletableFuture<Answer> call = sleeping(bridge, 1_500, USUAL, "u=3");
    bridge.until(
        () -> bridge.get("/servers/s", AS_USUAL).body().path("pending_calls").asInt() == 1);
    return call;
  }

  @Test
  void urgentCallRunsWhileAFloodWaits() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':8")) {
      List<CompletableFuture<Answer>> flood = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        flood.add(sleeping(bridge, 1_500, i % 2 == 0 ? USUAL : ON_CALL, "u=7"));
      }
      awaitQueued(bridge, 5);

      Answer urgent =
          bridge.call("echo", "{\"text\":\"now\"}", "x-api-key", ON_CALL, "priority", "u=0");

      assertEquals("now", urgent.at("/structuredContent/text"));
      assertTrue(flood.stream().noneMatch(CompletableFuture::isDone), "the flood had ended");
      flood.forEach(each -> assertEquals(200, each.join().status()));
    }
  }

  @Test
  void waitingCallsRunInTheOrderOfTheirUrgencies() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1")) {
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      CompletableFuture<Answer> first = busy(bridge);
      int waiting = 0;
      for (String urgency : List.of("u=7", "u=4", "u=3", "u=1", "u=0")) {
        calls.add(noting(bridge, urgency, ON_CALL, urgency));
        awaitQueued(bridge, ++waiting);
      }
      first.join();

      assertEquals(List.of("u=0", "u=1", "u=3", "u=4", "u=7"), orderOf(calls));
    }
  }

  @Test
  void callerWithoutAnEntryIsNotMoreUrgentThanUsual() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1")) {
      CompletableFuture<Answer> first = busy(bridge);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      calls.add(noting(bridge, "usual", ON_CALL, "u=3"));
      awaitQueued(bridge, 1);
      calls.add(noting(bridge, "pushy", USUAL, "u=0"));
      awaitQueued(bridge, 2);
      first.join();

      assertEquals(List.of("usual", "pushy"), orderOf(calls));
    }
  }

  @Test
  void batchesAndBackgroundCallsWaitForInteractiveOnes() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1")) {
      CompletableFuture<Answer> first = busy(bridge);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      String batch =
          "{\"calls\":[{\"server\":\"s\",\"tool\":\"effect\",\"arguments\":"
              + note("batch")
              + "}]}";
      calls.add(bridge.postLater("/batch", batch, AS_USUAL));
      awaitQueued(bridge, 1);
      String[] inBackground = {"x-api-key", USUAL, "prefer", "respond-async"};
      Answer background = bridge.call("effect", note("background"), inBackground);
      assertEquals(202, background.status(), background.toString());
      awaitQueued(bridge, 2);
      calls.add(noting(bridge, "interactive", USUAL, "u=3, i"));
      awaitQueued(bridge, 3);
      first.join();

      // The caller of the background call has had its answer: its effect says when it has run.
      bridge.until(() -> effectLog.effects().size() == 3);

      assertEquals(List.of("interactive", "batch", "background"), orderOf(calls));
    }
  }

  /** A batch may run for long: what was withdrawn meanwhile is not used for its later calls. */
  @Test
  void callOfABatchHasTheRightsThatItsCallerHasWhenItStarts() throws Exception {
    try (TestBridge bridge = open()) {
      String calls =
          "{\"server\":\"s\",\"tool\":\"sleep\",\"arguments\":{\"ms\":1500}},"
              + "{\"server\":\"s\",\"tool\":\"effect\",\"arguments\":"
              + note("late")
              + "}";
      CompletableFuture<Answer> batch =
          bridge.postLater(
              "/batch", "{\"concurrency\":1,\"calls\":[" + calls + "]}", "x-api-key", ON_CALL);
      bridge.until(
          () -> bridge.get("/servers/s", AS_USUAL).body().path("pending_calls").asInt() == 1);

      bridge.reload(
          CONFIG
              .formatted(effectLog.servers(List.of("s")))
              .replace("'name':'on-call'", "'name':'other'"));

      Answer answers = batch.join();
      assertEquals("200", answers.at("/results/0/status"), answers.text());
      assertEquals("403", answers.at("/results/1/status"), answers.text());
      assertEquals("no", answers.at("/results/1/body/executed"), answers.text());
      assertEquals(0, effectLog.effects().size());
    }
  }

  @Test
  void anApprovedCallKeepsItsUrgency() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1,'risk':{'tools':{'effect':2}}")) {
      List<Answer> pending = new ArrayList<>();
      for (String urgency : List.of("u=7", "u=0")) {
        pending.add(
            bridge.call("effect", note(urgency), "x-api-key", ON_CALL, "priority", urgency));
      }
      final CompletableFuture<Answer> first = busy(bridge);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (Answer each : pending) {
        calls.add(
            bridge.postLater(
                "/confirmations/" + each.at("/confirmation_id"),
                "{\"confirm\":true,\"token\":\"" + each.at("/token") + "\"}",
                "x-api-key",
                ON_CALL));
        awaitQueued(bridge, calls.size());
      }
      first.join();

      assertEquals(List.of("u=0", "u=7"), orderOf(calls));
    }
  }

  @Test
  void prioritiesThatAreReloadedBoundTheNextCalls() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1")) {
      bridge.reload(
          CONFIG
              .formatted(effectLog.servers(List.of("s"), "'maxInFlight':1"))
              .replace("'mostUrgent':0", "'urgency':6"));
      CompletableFuture<Answer> first = busy(bridge);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      calls.add(noting(bridge, "demoted", ON_CALL, "u=0"));
      awaitQueued(bridge, 1);
      calls.add(noting(bridge, "usual", USUAL, "u=3"));
      awaitQueued(bridge, 2);
      first.join();

      assertEquals(List.of("usual", "demoted"), orderOf(calls));
    }
  }

  @Test
  void fullQueueRefusesTheLeastUrgentCallWhichHasNotRun() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1,'maxQueued':2")) {
      CompletableFuture<Answer> first = busy(bridge);
      CompletableFuture<Answer> late = sleeping(bridge, 1, USUAL, "u=7");
      awaitQueued(bridge, 1);
      CompletableFuture<Answer> usual = sleeping(bridge, 1, USUAL, "u=4");
      awaitQueued(bridge, 2);

      CompletableFuture<Answer> urgent = sleeping(bridge, 1, ON_CALL, "u=0");

      Answer displaced = late.join();
      assertEquals("503 queue_full", displaced.status() + " " + displaced.code());
      assertEquals("no", displaced.at("/executed"), displaced.text());
      assertTrue(Integer.parseInt(displaced.header("retry-after")) >= 1, displaced.toString());
      for (CompletableFuture<Answer> each : List.of(first, usual, urgent)) {
        assertEquals(200, each.join().status());
      }
    }
  }

  @Test
  void mcpClientsSayItInMeta() throws Exception {
    try (TestBridge bridge = open("'maxInFlight':1")) {
      McpClient onCall =
          new McpClient(bridge.uri("/servers/s/mcp"), "{}", "x-api-key", ON_CALL).initialized();
      CompletableFuture<Answer> first = busy(bridge);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      calls.add(noting(bridge, "usual", USUAL, "u=3"));
      awaitQueued(bridge, 1);
      CompletableFuture<Void> urgent =
          CompletableFuture.runAsync(
              () -> {
                try {
                  String params =
                      "{\"name\":\"effect\",\"arguments\":"
                          + note("urgent")
                          + ",\"_meta\":{\"dev.mcpbridge/priority\":0}}";
                  assertEquals("done", onCall.request("tools/call", params).firstText());
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              });
      awaitQueued(bridge, 2);
      first.join();
      urgent.join();
      assertEquals(List.of("urgent", "usual"), orderOf(calls));

      for (String invalid : List.of("8", "-1", "1.5", "\"0\"", "null", "{}")) {
        McpClient.Reply refused =
            onCall.request(
                "tools/call",
                "{\"name\":\"echo\",\"_meta\":{\"dev.mcpbridge/priority\":" + invalid + "}}");
        assertEquals(-32602, refused.errorCode(), invalid);
        assertTrue(refused.text().contains("dev.mcpbridge/priority"), refused.text());
      }
    }
  }

  @Test
  void invalidPriorityFieldIsIgnored() throws Exception {
    try (TestBridge bridge = open()) {
      for (String field : List.of("u=9", "u=\"1\"", "u", "=", "u=1.5", "i, u=-1")) {
        Answer answer =
            bridge.call("echo", "{\"text\":\"x\"}", "x-api-key", USUAL, "priority", field);
        assertEquals("x", answer.at("/structuredContent/text"), field + " " + answer);
      }
    }
  }
}
