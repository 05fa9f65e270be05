package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.CompletedCall;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that fail, pause, leave and return under load: no call runs twice or on two nodes. */
@Tag("cluster")
@Tag("slow")
class ClusterFaultsIT {
  private static final List<String> SERVERS = List.of("a", "b", "c", "d", "e");

  @TempDir static Path folder;
  private static EffectLog effectLog;
  private static Nodes nodes;
  private final AtomicInteger turn = new AtomicInteger();

  @BeforeAll
  static void start() throws Exception {
    effectLog = new EffectLog(folder);
    nodes = Nodes.with(folder, 3, "'drain':10,'mcpServers':{" + effectLog.servers(SERVERS) + "}");
  }

  @BeforeEach
  void allAreThere() throws Exception {
    nodes.startMissing();
    nodes.awaitPreferredOwners(SERVERS);
  }

  @AfterEach
  void noProcessOfAStoppedNodeIsLeft() throws Exception {
    nodes.awaitNoOrphans();
  }

  @AfterAll
  static void stop() throws Exception {
    nodes.stopAll();
  }

  private int anyUp() {
    List<Integer> up = nodes.up();
    return up.get(turn.incrementAndGet() % up.size());
  }

  private List<String> ownedBy(int node, int door) throws Exception {
    List<String> owned = new ArrayList<>();
    for (String server : SERVERS) {
      if (nodes.owner(door, server) == node) {
        owned.add(server);
      }
    }
    return owned;
  }

  /** A node that owns a server. */
  private int anOwner() throws Exception {
    return nodes.owner(1, "a");
  }

  @Test
  void onlyServersOfAKilledOwnerMove() throws Exception {
    int dead = anOwner();
    List<String> moved = ownedBy(dead, dead);
    List<String> unmoved = SERVERS.stream().filter(server -> !moved.contains(server)).toList();
    List<Integer> doors = nodes.others(dead);
    List<JsonNode> untouched = pids(unmoved, doors.get(0));
    try (Load load =
        new Load(nodes, SERVERS, 200, () -> doors.get(turn.incrementAndGet() % doors.size()))) {
      load.awaitMore(50);

      nodes.kill(dead);
      load.awaitMore(50);

      List<CompletedCall> made = effectLog.assertConsistent(load, "killed owner");
      for (CompletedCall call : made) {
        boolean mayFail =
            moved.contains(call.server()) && call.outcome().startsWith("502 node_lost");
        assertTrue(call.isDone() || mayFail, call.server() + " " + call.answer());
      }
    }
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
    assertEquals(untouched, pids(unmoved, doors.get(0)));
    nodes.start(dead);
    nodes.awaitMembers();
    nodes.awaitPreferredOwners(SERVERS);
    nodes.assertAllAnswer(SERVERS);
    assertEquals(moved, ownedBy(dead, dead));
    assertEquals(untouched, pids(unmoved, doors.get(0)));
  }

  /** The processes of servers as shown by a node; each server has at least one. */
  private List<JsonNode> pids(List<String> servers, int door) throws Exception {
    List<JsonNode> pids = new ArrayList<>();
    for (String server : servers) {
      pids.add(nodes.get(door, "/servers/" + server).body().path("pids"));
      assertFalse(pids.get(pids.size() - 1).isEmpty(), server);
    }
    return pids;
  }

  @Test
  void killedPrimaryIsReplaced() throws Exception {
    int dead = nodes.primary(1);
    List<String> moved = ownedBy(dead, dead);
    List<Integer> doors = nodes.others(dead);
    try (Load load =
        new Load(nodes, SERVERS, 20, () -> doors.get(turn.incrementAndGet() % doors.size()))) {
      load.awaitMore(10);

      nodes.kill(dead);
      nodes.until(() -> nodes.areMembers(doors));
      load.awaitMore(10);

      List<CompletedCall> made = effectLog.assertConsistent(load, "killed primary");
      for (CompletedCall call : made) {
        boolean mayFail =
            moved.contains(call.server()) && call.outcome().startsWith("502 node_lost");
        assertTrue(call.isDone() || mayFail, call.server() + " " + call.answer());
      }
    }
    assertNotEquals(dead, nodes.primary(doors.get(0)));
    assertEquals(nodes.primary(doors.get(0)), nodes.primary(doors.get(1)));
  }

  @Test
  void pausedNodeLosesItsServers() throws Exception {
    int paused = anOwner();
    List<String> moved = ownedBy(paused, paused);
    JsonNode before = nodes.get(paused, "/servers/a").body();
    long old = before.path("pids").get(0).asLong();
    try (Load load = new Load(nodes, SERVERS, 30, this::anyUp)) {
      load.awaitMore(20);

      nodes.pause(paused);
      List<Integer> running = nodes.others(paused);
      for (String server : moved) {
        nodes.until(() -> nodes.owner(running.get(0), server) != paused);
        nodes.awaitReady(running.get(0), server);
        assertEquals(200, nodes.call(running.get(0), server, "echo", "{}").status());
      }
      long epoch = nodes.get(running.get(0), "/servers/a").body().path("epoch").asLong();
      assertTrue(epoch > before.path("epoch").asLong());
      TimeUnit.SECONDS.sleep(3); // stay paused: the duration of the pause is what is tested
      nodes.resume(paused);

      nodes.until(() -> ProcessHandle.of(old).filter(ProcessHandle::isAlive).isEmpty());
      nodes.awaitMembers();
      load.awaitMore(20);
      effectLog.assertConsistent(load, "paused");
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void gracefulStopFailsNoCalls() throws Exception {
    int leaving = anOwner();
    List<Integer> doors = nodes.others(leaving);
    try (Load load =
        new Load(nodes, SERVERS, 30, () -> doors.get(turn.incrementAndGet() % doors.size()))) {
      load.awaitMore(20);

      nodes.stop(leaving);
      nodes.until(() -> nodes.areMembers(doors));
      load.awaitMore(20);

      List<CompletedCall> made = effectLog.assertConsistent(load, "graceful stop");
      assertAllDone(made);
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void stoppingNodeIsNotReadyButAnswersUntilItsCallsEnd() throws Exception {
    int leaving = anOwner();
    String elsewhere = ownedBy(nodes.anyOther(leaving), 1).get(0);
    URI ready = nodes.uri(leaving, "/health/ready");
    URI call = nodes.uri(leaving, "/servers/" + elsewhere + "/tools/echo");
    CompletableFuture<Answer> running =
        nodes.callLater(
            nodes.anyOther(leaving), "a", "effect", "{\"ms\":7000,\"note\":\"a long\"}");
    nodes.until(() -> effectLog.count("long") == 1);

    CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> nodes.stop(leaving));

    nodes.until(() -> send(HttpRequest.newBuilder(ready)).statusCode() == 503);
    nodes.until(() -> send(HttpRequest.newBuilder(ready)).body().contains("\"state\":\"leaving\""));
    HttpResponse<String> answered =
        send(HttpRequest.newBuilder(call).POST(HttpRequest.BodyPublishers.ofString("{}")));
    assertFalse(running.isDone());
    assertEquals(200, answered.statusCode(), answered.body());
    assertEquals("done", running.get(60, TimeUnit.SECONDS).firstText());
    stopped.get(60, TimeUnit.SECONDS);
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
    assertEquals(1, effectLog.count("long"));
  }

  /** Sends a request to a node that {@link Nodes} no longer lists as up. */
  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return nodes
        .client()
        .send(
            request.header("content-type", "application/json").build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private static void assertAllDone(List<CompletedCall> made) {
    for (CompletedCall call : made) {
      assertTrue(call.isDone(), call.server() + " at n" + call.node() + ": " + call.answer());
    }
  }

  @Test
  void queuedCallsOfALeavingNodeRunAtTheNextOwner(@TempDir Path other) throws Exception {
    EffectLog marks = new EffectLog(other);
    String one = marks.servers(List.of("s"), "'maxInFlight':1");
    try (Nodes small = Nodes.start(other, 3, one)) {
      small.awaitReady(1, "s");
      int owner = small.owner(1, "s");
      int door = small.anyOther(owner);
      small.awaitReady(door, "s");
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        calls.add(small.callLater(door, "s", "effect", "{\"ms\":600,\"note\":\"s c" + i + "\"}"));
      }
      small.until(() -> small.get(door, "/servers/s").body().path("queued_calls").asInt() > 10);

      small.stop(owner);

      for (CompletableFuture<Answer> call : calls) {
        assertEquals("done", call.get(60, TimeUnit.SECONDS).firstText(), call.join().toString());
      }
      assertEquals(20, marks.effects().stream().map(EffectLog.Effect::note).distinct().count());
      assertEquals(20, marks.effects().size());
    }
  }

  @Test
  void clusterRestartsAfterAllNodesWereStopped() throws Exception {
    CompletableFuture.allOf(
            nodes.up().stream()
                .map(node -> CompletableFuture.runAsync(() -> nodes.stop(node)))
                .toArray(CompletableFuture[]::new))
        .get(60, TimeUnit.SECONDS);
    nodes.until(() -> nodes.processes().isEmpty());

    nodes.startAll();
    nodes.awaitMembers();

    for (String server : SERVERS) {
      nodes.awaitReady(1, server);
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void nodeStartedAloneAfterAllWereKilledWaitsForTheOthers() throws Exception {
    for (int node = 1; node <= 3; node++) {
      nodes.kill(node);
    }

    nodes.start(2);

    assertEquals("joining", nodes.state(2));
    for (String server : SERVERS) {
      Answer refused = nodes.call(2, server, "echo", "{}");
      assertEquals(503, refused.status(), refused.toString());
      assertEquals("no_quorum", refused.code());
      assertEquals("no", refused.at("/executed"));
    }
    nodes.start(1);
    nodes.start(3);
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void twoOfThreeNodesAreEnoughAfterTwoWereKilledAtOnce() throws Exception {
    int remaining = anOwner();
    int first = nodes.anyOther(remaining);
    int second = nodes.anyOther(remaining, first);
    nodes.kill(first);
    nodes.kill(second);
    nodes.until(() -> nodes.state(remaining).equals("cut_off"));

    nodes.start(first);
    nodes.awaitMembers();

    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void nodeWithoutMajorityStopsItsServersUntilAnotherReturns() throws Exception {
    int first = anOwner();
    int remaining = nodes.anyOther(first);
    int second = nodes.anyOther(first, remaining);
    nodes.kill(first);
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);

    nodes.kill(second);

    nodes.until(() -> nodes.state(remaining).equals("cut_off"));
    for (String server : SERVERS) {
      nodes.until(() -> nodes.call(remaining, server, "echo", "{}").code().equals("no_quorum"));
    }
    Answer refused = nodes.call(remaining, "a", "echo", "{}");
    assertEquals(503, refused.status());
    assertEquals("no", refused.at("/executed"));
    assertTrue(refused.body().path("retryable").asBoolean());
    assertFalse(refused.header("retry-after").isEmpty());
    assertEquals(503, nodes.get(remaining, "/health/ready").status());
    assertEquals(200, nodes.get(remaining, "/health/live").status());
    nodes.until(() -> nodes.processes().size() == 1);
    TimeUnit.SECONDS.sleep(6); // longer than the timeout of a command

    nodes.start(first);

    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
    nodes.start(second);
    nodes.awaitMembers();
    nodes.awaitPreferredOwners(SERVERS);
    nodes.assertAllAnswer(SERVERS);
  }
}
