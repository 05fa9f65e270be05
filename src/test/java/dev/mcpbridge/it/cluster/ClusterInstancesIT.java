package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.EffectLog.Effect;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.CompletedCall;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server whose three instances are spread over three nodes. */
@Tag("cluster")
@Tag("slow")
class ClusterInstancesIT {
  private static final AtomicInteger TESTS = new AtomicInteger();
  @TempDir static Path folder;
  private static Nodes nodes;

  private final String id = "s" + TESTS.incrementAndGet();
  private final String address = "/servers/" + id;
  private final AtomicInteger turn = new AtomicInteger();
  private EffectLog effectLog;

  @BeforeAll
  static void startNodes() throws Exception {
    nodes = Nodes.patient(folder, 3, "");
  }

  @AfterAll
  static void stopNodes() throws Exception {
    nodes.stopAll();
  }

  /** Each test has a server of its own, so that none sees the effects of another. */
  @BeforeEach
  void start() throws Exception {
    effectLog = new EffectLog(Files.createDirectory(folder.resolve(id)));
    nodes.startMissing();
    configure("'instances':3");
    awaitPlaces(1, 1, 1);
  }

  private void configure(String... keys) throws Exception {
    configureAll(effectLog.servers(List.of(id), keys));
  }

  private static void configureAll(String... servers) throws Exception {
    for (int node : nodes.up()) {
      nodes.write(node, "'mcpServers':{" + String.join(",", servers) + "}");
    }
  }

  private JsonNode server(int node) throws Exception {
    return nodes.get(node, address).body();
  }

  /** The nodes of the instances, in their order. */
  private List<Integer> places(int door) throws Exception {
    return StreamSupport.stream(server(door).path("nodes").spliterator(), false)
        .map(location -> Integer.parseInt(location.path("node").asText("n0").substring(1)))
        .toList();
  }

  /** Waits until each node has the given number of instances and all nodes show this. */
  private void awaitPlaces(Integer... expected) throws Exception {
    for (int door : nodes.up()) {
      nodes.until(
          () -> {
            JsonNode server = server(door);
            List<Integer> places = places(door);
            List<Integer> counts =
                IntStream.rangeClosed(1, expected.length)
                    .mapToObj(node -> (int) places.stream().filter(place -> place == node).count())
                    .toList();
            return server.path("state").asText().equals("ready")
                && server.path("pids").size() == 3
                && counts.equals(List.of(expected));
          });
    }
  }

  /** Waits until all instances run and each node that is up has at least one. */
  private void awaitEven() throws Exception {
    List<Integer> up = nodes.up();
    for (int door : up) {
      nodes.until(
          () -> {
            List<Integer> places = places(door);
            return server(door).path("pids").size() == 3
                && server(door).path("state").asText().equals("ready")
                && up.containsAll(places)
                && up.stream().distinct().filter(places::contains).count() == up.size();
          });
    }
  }

  private long pidAt(int node) throws Exception {
    return server(1).path("pids").get(places(1).indexOf(node)).asLong();
  }

  private List<Long> pids(int door) throws Exception {
    List<Long> pids = new ArrayList<>();
    server(door).path("pids").forEach(pid -> pids.add(pid.asLong()));
    return pids;
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
  }

  private Answer effect(int node, String note) throws Exception {
    return nodes.call(node, id, "effect", "{\"note\":\"" + id + " " + note + "\"}");
  }

  private long pidOf(String note) throws Exception {
    return effectLog.effects().stream()
        .filter(effect -> effect.note().equals(note))
        .map(Effect::pid)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void eachNodeRunsOneInstanceAndShowsAll() throws Exception {
    for (int door : nodes.up()) {
      JsonNode server = server(door);

      assertEquals(3, server.path("instances").asInt(), server.toString());
      assertEquals(List.of(1, 2, 3), places(door).stream().sorted().toList());
      assertEquals(List.of("1", "2", "3"), server.path("nodes").findValuesAsText("instance"));
      assertEquals(3, pids(door).stream().filter(ClusterInstancesIT::isAlive).distinct().count());
      assertEquals(server.path("node"), server.path("nodes").path(0).path("node"));
      assertEquals(server.path("epoch"), server.path("nodes").path(0).path("epoch"));
    }
    assertEquals(pids(1), pids(2));
  }

  @Test
  void nodeCallsItsIdleLocalInstance() throws Exception {
    for (int node = 1; node <= 3; node++) {
      for (int i = 0; i < 5; i++) {
        String note = "n" + node + "c" + i;
        assertEquals(200, effect(node, note).status());
        assertEquals(pidAt(node), pidOf(note));
      }
    }
  }

  @Test
  void manyCallsAtOneNodeAreBalanced() throws Exception {
    List<CompletableFuture<Answer>> calls =
        IntStream.range(0, 30)
            .mapToObj(
                i ->
                    nodes.callLater(
                        1, id, "effect", "{\"ms\":3000,\"note\":\"" + id + " c" + i + "\"}"))
            .toList();

    for (CompletableFuture<Answer> call : calls) {
      assertEquals(200, call.get(60, TimeUnit.SECONDS).status(), call.join().toString());
    }
    for (long pid : pids(1)) {
      long count = effectLog.effects().stream().filter(effect -> effect.pid() == pid).count();
      assertEquals(10, count);
    }
  }

  @Test
  void callIsCancelledAtAnyInstance() throws Exception {
    for (int i = 0; i < 3; i++) {
      nodes.callLater(1, id, "sleep", "{\"ms\":30000}");
    }
    nodes.until(() -> server(1).path("pending_calls").asInt() == 3);
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Answer accepted = nodes.call(2, id, "sleep", "{\"ms\":30000}", "prefer", "respond-async");
      calls.add(accepted.header("location"));
    }
    nodes.until(() -> server(1).path("pending_calls").asInt() == 6);
    for (String call : calls) {
      assertEquals(200, nodes.delete(3, call).status());
    }

    nodes.until(() -> server(1).path("pending_calls").asInt() == 3);
    for (int node = 1; node <= 3; node++) {
      assertEquals("1", nodes.call(node, id, "cancels", "{}").firstText(), "n" + node);
    }
  }

  @Test
  void killedNodeLosesOnlyItsInstance() throws Exception {
    int dead = 2;
    List<Integer> doors = nodes.others(dead);
    try (Load load =
        new Load(nodes, List.of(id), 60, () -> doors.get(turn.incrementAndGet() % doors.size()))) {
      load.awaitMore(100);

      nodes.kill(dead);
      load.awaitMore(100);
      awaitEven();
      load.awaitMore(100);

      List<CompletedCall> made = load.stop();
      System.err.println("killed node of an instance: " + Load.outcomes(made));
      effectLog.assertConsistent(made, 3);
      for (CompletedCall call : made) {
        boolean wasLost = call.outcome().startsWith("502 node_lost");
        assertTrue(call.isDone() || wasLost, call.outcome() + call.answer());
      }
    }
    nodes.start(dead);
    nodes.awaitMembers();
    awaitPlaces(1, 1, 1);
    nodes.assertAllAnswer(List.of(id));
  }

  @Test
  void callsDoNotWaitForAPausedNode() throws Exception {
    int paused = 3;
    nodes.pause(paused);
    try {
      for (int i = 0; i < 50; i++) {
        for (int node : List.of(1, 2)) {
          Answer answer = effect(node, "n" + node + "c" + i);
          assertEquals(200, answer.status(), answer.toString());
        }
      }
      for (int node : List.of(1, 2)) {
        nodes.until(() -> !places(node).contains(paused));
      }
    } finally {
      nodes.resume(paused);
    }
    awaitPlaces(1, 1, 1);
    nodes.assertAllAnswer(List.of(id));
    assertEquals(100, effectLog.effects().size());
  }

  /** Neither to the server with instances on all nodes nor to servers on one node. */
  @Test
  void rollingRestartFailsNoCalls() throws Exception {
    EffectLog single = new EffectLog(Files.createDirectory(folder.resolve("single")));
    List<String> servers = List.of(id, "a", "b", "c");
    configureAll(
        effectLog.servers(List.of(id), "'instances':3"), single.servers(servers.subList(1, 4)));
    nodes.awaitReady(servers);

    List<CompletedCall> made = Load.duringRollingRestart(nodes, servers);

    System.err.println("rolling restart: " + Load.outcomes(made));
    effectLog.assertConsistent(made.stream().filter(call -> call.server().equals(id)).toList(), 3);
    single.assertConsistent(made.stream().filter(call -> !call.server().equals(id)).toList());
    made.forEach(call -> assertTrue(call.isDone(), call.outcome() + call.answer()));
    awaitPlaces(1, 1, 1);
  }

  @Test
  void restartReplacesInstancesOneByOne() throws Exception {
    List<Long> before = pids(1);
    try (Load load = new Load(nodes, List.of(id), 10, () -> 1 + turn.incrementAndGet() % 3)) {
      load.awaitMore(20);

      Answer restarted = nodes.post(2, address + "/restart", "");
      assertEquals(200, restarted.status(), restarted.toString());
      load.awaitMore(20);

      List<CompletedCall> made = load.stop();
      effectLog.assertConsistent(made, 3);
      made.forEach(call -> assertTrue(call.isDone(), call.outcome() + call.answer()));
      assertEquals(3, restarted.body().path("pids").size());
      assertEquals(3, restarted.body().path("restarts").asInt());
    }
    before.forEach(pid -> assertTrue(!isAlive(pid), "it still runs"));
    awaitPlaces(1, 1, 1);
  }

  @Test
  void crashedInstanceRestartsWhileOthersServe() throws Exception {
    long killed = pidAt(1);
    ProcessHandle.of(killed).orElseThrow().destroyForcibly();

    nodes.until(() -> !pids(2).contains(killed));
    for (int i = 0; i < 20; i++) {
      assertEquals(200, effect(1, "c" + i).status());
    }
    awaitPlaces(1, 1, 1);
    assertEquals(1, server(2).path("restarts").asInt());
  }

  @Test
  void stopAtOneNodeStopsAllInstances() throws Exception {
    List<Long> before = pids(1);

    assertEquals(200, nodes.delete(2, address).status());

    before.forEach(pid -> assertTrue(!isAlive(pid), "it still runs"));
    for (int node = 1; node <= 3; node++) {
      int door = node;
      nodes.until(() -> nodes.get(door, address).status() == 404);
    }
  }

  @Test
  void postedServerIsSpreadAndDeleted() throws Exception {
    String entry = TestBridge.json(Nodes.entry(folder, "'instances':2"));
    Answer started = nodes.post(3, "/servers", "{\"id\":\"posted\"," + entry.substring(1));
    assertEquals(201, started.status(), started.toString());
    for (int node = 1; node <= 3; node++) {
      int door = node;
      nodes.until(() -> nodes.get(door, "/servers/posted").body().path("nodes").size() == 2);
      nodes.awaitReady(node, "posted");
      JsonNode shown = nodes.get(node, "/servers/posted").body();
      assertEquals(2, shown.path("pids").size(), shown.toString());
      List<String> names = shown.path("nodes").findValuesAsText("node");
      assertEquals(2, names.stream().distinct().count(), names.toString());
    }

    assertEquals(200, nodes.delete(1, "/servers/posted").status());
    assertEquals(404, nodes.call(1, "posted", "echo", "{}").status());
  }

  /** One instance of the server: its node keeps the results for all nodes. */
  @Test
  void equalCallsAtAllNodesAreOneCallOfTheServer() throws Exception {
    configure("'cache':{'tools':{'effect':{'ttl':60,'scope':'shared'}}}");
    for (int node : nodes.up()) {
      nodes.until(() -> server(node).path("nodes").isMissingNode());
      nodes.awaitReady(node, id);
    }

    List<CompletableFuture<Answer>> calls =
        IntStream.range(0, 30)
            .mapToObj(
                i ->
                    nodes.callLater(
                        1 + i % 3, id, "effect", "{\"ms\":1000,\"note\":\"" + id + " same\"}"))
            .toList();

    for (CompletableFuture<Answer> call : calls) {
      assertEquals(200, call.get(60, TimeUnit.SECONDS).status(), call.join().toString());
    }
    assertEquals(1, effectLog.count("same"));
  }

  @Test
  void changedNumberOfInstancesIsApplied() throws Exception {
    configure();
    for (int node = 1; node <= 3; node++) {
      int door = node;
      nodes.until(() -> server(door).path("nodes").isMissingNode());
      nodes.awaitReady(node, id);
      nodes.until(() -> pids(door).size() == 1);
    }
    nodes.assertAllAnswer(List.of(id));

    configure("'instances':3");
    awaitPlaces(1, 1, 1);
    nodes.assertAllAnswer(List.of(id));
  }
}
