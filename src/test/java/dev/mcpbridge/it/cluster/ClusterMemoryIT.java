package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.cluster.OwnerTable;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.Approvals;
import dev.mcpbridge.fixture.Approvals.PendingConfirmation;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.EventLog;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Idempotency keys, background calls and events are shared by all nodes and survive failures. */
@Tag("cluster")
@Tag("slow")
class ClusterMemoryIT {
  private static final List<String> SERVERS = List.of("a", "b", "c", "d");
  private static final String GUARDED = "g";
  private static final String LAZY = "lazy";
  private static final List<Integer> ALL = List.of(1, 2, 3);

  /** Milliseconds; longer than it takes to kill a node meanwhile. */
  private static final int LONG = 20_000;

  @TempDir static Path folder;
  private static EffectLog effectLog;

  @AutoClose("stopAll")
  private static Nodes nodes;

  @AutoClose private static EchoApi api;

  private static Approvals approvals;
  private static final AtomicInteger NOTES = new AtomicInteger();

  @BeforeAll
  static void start() throws Exception {
    effectLog = new EffectLog(folder);
    String lazy = Nodes.entry(folder, "'start':'lazy'", "--slow-init", "10000");
    api =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/get", "get", "").asScript());
    String called = "'api':{'type':'openapi','url':'" + api.url("/openapi.json") + "'}";
    nodes =
        Nodes.start(
            folder,
            3,
            String.join(
                ",",
                effectLog.servers(SERVERS),
                effectLog.gatedServer(GUARDED),
                "'lazy':" + lazy,
                called));
    approvals = new Approvals(nodes, GUARDED);
  }

  @BeforeEach
  void allAreThere() throws Exception {
    nodes.startMissing();
    nodes.awaitPreferredOwners(SERVERS);
    nodes.awaitPreferredOwners(List.of(GUARDED));
  }

  private static String note() {
    return "n" + NOTES.incrementAndGet();
  }

  private static String effect(String note, int millis) {
    return "{\"ms\":" + millis + ",\"note\":\"a " + note + "\"}";
  }

  private static void awaitEffect(String note) throws Exception {
    nodes.until(() -> effectLog.count(note) == 1);
  }

  private static int owner(String server) throws Exception {
    return nodes.owner(nodes.up().get(0), server);
  }

  private static String outcome(Answer answer) {
    String executed = answer.at("/executed");
    return answer.status() == 200
        ? "200"
        : answer.status() + " " + answer.code() + " executed " + executed;
  }

  // --- idempotency keys

  private static CompletableFuture<Answer> keyed(int node, String key, String body) {
    return nodes.callLater(node, "a", "effect", body, "idempotency-key", key);
  }

  private static Answer repeat(int node, String key, String body) throws Exception {
    return keyed(node, key, body).get(60, TimeUnit.SECONDS);
  }

  @Test
  void keyUsedAtAllNodesConcurrentlyRunsOnce() throws Exception {
    List<String> notes = new ArrayList<>();
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      String note = note();
      notes.add(note);
      ALL.forEach(node -> answers.add(keyed(node, note, effect(note, 20))));
    }
    for (int i = 0; i < answers.size(); i += 3) {
      int done = 0;
      for (CompletableFuture<Answer> answer : answers.subList(i, i + 3)) {
        String outcome = outcome(answer.get(60, TimeUnit.SECONDS));
        assertTrue(
            outcome.equals("200") || outcome.equals("409 idempotency_in_progress executed unknown"),
            outcome);
        done += outcome.equals("200") ? 1 : 0;
      }
      assertTrue(done > 0);
    }
    for (String note : notes) {
      assertEquals(1, effectLog.count(note));
    }
    assertReplayed(notes.get(0), nodes.up());
  }

  /** All nodes return the stored outcome and do not run the call again. */
  private static void assertReplayed(String note, List<Integer> at) throws Exception {
    for (int node : at) {
      Answer again = repeat(node, note, effect(note, 20));
      assertEquals("done", again.firstText(), again.toString());
      Answer other = repeat(node, note, effect(note, 21));
      assertEquals("422 idempotency_mismatch executed no", outcome(other));
    }
    assertEquals(1, effectLog.count(note));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void keySurvivesTheDeathOfReceiverOrOwner(boolean killsOwner) throws Exception {
    int owner = owner("a");
    int door = nodes.anyOther(owner);
    String note = note();
    assertEquals("done", repeat(door, note, effect(note, 20)).firstText());

    nodes.kill(killsOwner ? owner : door);

    assertReplayed(note, nodes.up());
    nodes.startMissing();
    assertReplayed(note, nodes.up());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void keyOfACallInterruptedByAKillHasUnknownOutcome(boolean killsOwner) throws Exception {
    int owner = owner("a");
    int door = nodes.anyOther(owner);
    String note = note();
    CompletableFuture<Answer> running = keyed(door, note, effect(note, LONG));
    awaitEffect(note);

    nodes.kill(killsOwner ? owner : door);

    running.handle((answer, failure) -> answer).get(60, TimeUnit.SECONDS);
    for (int node : nodes.up()) {
      nodes.until(() -> repeat(node, note, effect(note, LONG)).status() != 409);
    }
    nodes.startMissing();
    for (int node : ALL) {
      assertEquals(
          "502 node_lost executed unknown", outcome(repeat(node, note, effect(note, LONG))));
    }
    assertEquals(1, effectLog.count(note));
  }

  @Test
  void keyHasOneConfirmationAtAllNodes() throws Exception {
    String note = note();
    List<String> ids = new ArrayList<>();
    for (int node : ALL) {
      Answer answer =
          nodes.call(
              node, GUARDED, "effect", approvals.arguments(note, 1), "idempotency-key", note);
      assertTrue(answer.body().path("requires_confirmation").asBoolean(), answer.toString());
      ids.add(answer.body().path("confirmation_id") + " " + answer.body().path("token"));
    }

    assertEquals(1, ids.stream().distinct().count(), ids.toString());
  }

  // --- background calls

  private static String inBackground(int node, String tool, String arguments) throws Exception {
    return inBackground(node, "a", tool, arguments);
  }

  private static String inBackground(int node, String server, String tool, String arguments)
      throws Exception {
    Answer accepted = nodes.call(node, server, tool, arguments, "prefer", "respond-async");
    assertEquals(202, accepted.status(), accepted.toString());
    return accepted.header("location");
  }

  private static String status(int node, String call) throws Exception {
    return nodes.get(node, call).at("/status");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void backgroundCallIsVisibleAtAllNodes(int node) throws Exception {
    String note = note();
    String call = inBackground(node, "effect", effect(note, 2_000));
    String hanging = inBackground(node, "never", "{}");
    for (int other : ALL) {
      assertEquals("running", status(other, hanging));
      nodes.until(() -> status(other, call).equals("done"));
      assertEquals(nodes.get(node, call).body(), nodes.get(other, call).body());
    }
    JsonNode done = nodes.get(node, call).body();
    assertEquals("done", done.at("/result/content/0/text").asText(), done.toString());
    assertEquals(1, effectLog.count(note));
    nodes.delete(node, hanging);
  }

  @Test
  void backgroundCallIsCancelledImmediatelyAtAnotherNode() throws Exception {
    for (int i = 0; i < 30; i++) {
      int door = 1 + i % 3;
      int other = 1 + (i + 1 + i / 3 % 2) % 3;
      String call = inBackground(door, "never", "{}");

      JsonNode ended = nodes.delete(other, call).body();

      assertEquals("cancelled", ended.at("/problem/code").asText(), door + " " + other + ended);
      nodes.until(() -> status(door, call).equals("failed"));
    }
  }

  @Test
  void backgroundCallWaitingForItsServerIsCancelled() throws Exception {
    int owner = OwnerTable.of(LAZY, nodes.up());
    nodes.until(() -> owner(LAZY) == owner);
    String call = inBackground(nodes.anyOther(owner), LAZY, "never", "{}");

    JsonNode ended = nodes.delete(owner, call).body();

    assertEquals("cancelled", ended.at("/problem/code").asText(), ended.toString());
    assertEquals("no", ended.at("/problem/executed").asText(), ended.toString());
  }

  @Test
  void backgroundCallsSurviveTheDeathOfTheirNode() throws Exception {
    int door = nodes.anyOther(owner("a"));
    String doneNote = note();
    String done = inBackground(door, "effect", effect(doneNote, 1));
    nodes.until(() -> status(door, done).equals("done"));
    String runningNote = note();
    String running = inBackground(door, "effect", effect(runningNote, LONG));
    awaitEffect(runningNote);
    nodes.until(() -> status(nodes.anyOther(door), done).equals("done"));

    nodes.kill(door);

    for (int node : nodes.up()) {
      JsonNode stored = nodes.get(node, done).body();
      assertEquals("done", stored.at("/result/content/0/text").asText(), stored.toString());
      nodes.until(() -> !status(node, running).equals("running"));
      JsonNode lost = nodes.get(node, running).body();
      assertEquals("node_lost", lost.at("/problem/code").asText(), lost.toString());
      assertEquals("unknown", lost.at("/problem/executed").asText(), lost.toString());
    }
    assertEquals(1, effectLog.count(doneNote));
    assertEquals(1, effectLog.count(runningNote));
  }

  // --- large results

  @Test
  void largeResultIsSentByTheNodeThatRanTheCall() throws Exception {
    int size = 2 << 20;
    String large = "{\"size\":" + size + "}";
    String call = inBackground(1, "big", large);
    Answer keyed = nodes.call(1, "a", "big", large, "idempotency-key", "large");
    nodes.until(() -> status(1, call).equals("done"));

    assertEquals(size, keyed.firstText().length());
    JsonNode stored = nodes.get(1, call).body();
    assertEquals(size, stored.at("/result/content/0/text").asText().length());
    for (int other : List.of(2, 3)) {
      nodes.until(() -> !status(other, call).equals("running"));
      assertEquals(stored, nodes.get(other, call).body());
      Answer again = nodes.call(other, "a", "big", large, "idempotency-key", "large");
      assertEquals(keyed.body(), again.body());
    }

    nodes.kill(1);

    for (int other : List.of(2, 3)) {
      nodes.until(() -> nodes.get(other, call).body().has("problem"));
      JsonNode problem = nodes.get(other, call).body().path("problem");
      assertEquals("response_too_large", problem.path("code").asText(), problem.toString());
      assertEquals("yes", problem.path("executed").asText());
      Answer again = nodes.call(other, "a", "big", large, "idempotency-key", "large");
      assertEquals("502 response_too_large executed yes", outcome(again));
    }
  }

  // --- credentials

  @Test
  void credentialOfACallerIsUsedAndDeletedAtAllNodes() throws Exception {
    nodes.awaitReady(1, "api");
    Answer stored =
        nodes.put(1, "/servers/api/credentials", "{\"authorization\":\"Bearer of-ann\"}");
    assertEquals(204, stored.status(), stored.toString());

    for (int node : ALL) {
      assertEquals(List.of("Bearer of-ann"), authorization(node));
    }

    nodes.kill(1);
    nodes.until(() -> nodes.areMembers(nodes.up()));
    assertEquals(List.of("Bearer of-ann"), authorization(2));
    assertEquals(204, nodes.delete(3, "/servers/api/credentials").status());
    for (int node : List.of(2, 3)) {
      nodes.until(() -> authorization(node).isEmpty());
    }
  }

  private static List<String> authorization(int node) throws Exception {
    Answer answer = nodes.call(node, "api", "get", "{}");
    assertEquals(200, answer.status(), answer.toString());
    return api.lastRequest().headers("authorization");
  }

  // --- events and load

  @Test
  void eachNodeReportsEventsOfTheOthersOnce() throws Exception {
    List<EventLog> logs = new ArrayList<>();
    for (int node : ALL) {
      logs.add(EventLog.at(nodes, node));
    }
    PendingConfirmation confirmation = approvals.request(1, 1);
    approvals.decide(2, confirmation, false);
    nodes.call(1, "b", "promise", "{}");
    nodes.call(3, "b", "grow", "{}");
    for (EventLog log : logs) {
      nodes.until(() -> log.values("catalogue", "server").equals(List.of("b")));
    }
    nodes.post(2, "/servers/b/restart", "");
    PendingConfirmation last = approvals.request(3, 1);
    approvals.decide(3, last, true);

    for (EventLog log : logs) {
      nodes.until(() -> statuses(log, last).equals(List.of("pending", "approved")));
      assertEquals(List.of("pending", "rejected"), statuses(log, confirmation));
      nodes.until(() -> log.values("server", "state", "server", "b").contains("ready"));
      assertEquals(
          1, log.values("server", "state", "server", "b").stream().filter("ready"::equals).count());
      assertEquals(1, log.values("output_mismatch", "tool_name").size());
      log.close();
    }
  }

  private static List<String> statuses(EventLog log, PendingConfirmation confirmation) {
    return log.values("confirmation", "status", "confirmation_id", confirmation.id());
  }
}
