package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.EffectLog.Effect;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.Made;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A server whose three instances are spread over three nodes. */
@ExtendWith(Nodes.Shown.class)
class ClusterInstancesIT {
  private static final List<String> SPREAD = List.of("s");

  @TempDir Path folder;
  private EffectLog effectLog;
  private Nodes nodes;
  private final AtomicInteger turn = new AtomicInteger();

  @BeforeEach
  void start() throws Exception {
    effectLog = new EffectLog(folder);
    nodes = Nodes.start(folder, 3, effectLog.servers(SPREAD, "'instances':3"));
    awaitPlaces(1, 1, 1);
  }

  /** Nobody is left whose node has ended. */
  @AfterEach
  void nothingIsLeft() throws Exception {
    nodes.end();
  }

  private JsonNode server(int node) throws Exception {
    return nodes.get(node, "/servers/s").body();
  }

  /** The nodes of the instances, in their order. */
  private List<Integer> places(int asked) throws Exception {
    return StreamSupport.stream(server(asked).path("nodes").spliterator(), false)
        .map(at -> Integer.parseInt(at.path("node").asText("n0").substring(1)))
        .toList();
  }

  /** Waits until each node has so many of the instances, and every node says so. */
  private void awaitPlaces(Integer... each) throws Exception {
    for (int asked : nodes.up()) {
      nodes.until(
          () -> {
            JsonNode server = server(asked);
            List<Integer> places = places(asked);
            List<Integer> counts =
                IntStream.rangeClosed(1, each.length)
                    .mapToObj(node -> (int) places.stream().filter(at -> at == node).count())
                    .toList();
            return server.path("state").asText().equals("ready")
                && server.path("pids").size() == 3
                && counts.equals(List.of(each));
          });
    }
  }

  /** Waits until all instances run, so evenly as so many nodes can have them. */
  private void awaitEven() throws Exception {
    List<Integer> up = nodes.up();
    for (int asked : up) {
      nodes.until(
          () -> {
            List<Integer> places = places(asked);
            return server(asked).path("pids").size() == 3
                && server(asked).path("state").asText().equals("ready")
                && up.containsAll(places)
                && up.stream().distinct().filter(places::contains).count() == up.size();
          });
    }
  }

  private long pidAt(int node) throws Exception {
    return server(1).path("pids").get(places(1).indexOf(node)).asLong();
  }

  private List<Long> pids(int asked) throws Exception {
    List<Long> pids = new ArrayList<>();
    server(asked).path("pids").forEach(pid -> pids.add(pid.asLong()));
    return pids;
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
  }

  private Answer effect(int node, String note) throws Exception {
    return nodes.call(node, "s", "effect", "{\"note\":\"s " + note + "\"}");
  }

  private long pidOf(String note) throws Exception {
    return effectLog.happened().stream()
        .filter(effect -> effect.note().equals(note))
        .map(Effect::pid)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void eachNodeHasOneAndShowsThemAll() throws Exception {
    for (int asked : nodes.up()) {
      JsonNode server = server(asked);

      assertEquals(3, server.path("instances").asInt(), server.toString());
      assertEquals(List.of(1, 2, 3), places(asked).stream().sorted().toList());
      assertEquals(List.of("1", "2", "3"), server.path("nodes").findValuesAsText("instance"));
      assertEquals(3, pids(asked).stream().filter(ClusterInstancesIT::isAlive).distinct().count());
      assertEquals(server.path("node"), server.path("nodes").path(0).path("node"));
      assertEquals(server.path("epoch"), server.path("nodes").path(0).path("epoch"));
    }
    assertEquals(pids(1), pids(2));
  }

  @Test
  void aNodeCallsItsOwnWhileThatHasNothingToDo() throws Exception {
    for (int node = 1; node <= 3; node++) {
      for (int i = 0; i < 5; i++) {
        String note = "n" + node + "c" + i;
        assertEquals(200, effect(node, note).status());
        assertEquals(pidAt(node), pidOf(note));
      }
    }
  }

  @Test
  void manyCallsAtOneNodeAreSharedByAll() throws Exception {
    List<CompletableFuture<Answer>> calls =
        IntStream.range(0, 30)
            .mapToObj(
                i -> nodes.callLater(1, "s", "effect", "{\"ms\":3000,\"note\":\"s c" + i + "\"}"))
            .toList();

    for (CompletableFuture<Answer> call : calls) {
      assertEquals(200, call.get(60, TimeUnit.SECONDS).status(), call.join().toString());
    }
    for (long pid : pids(1)) {
      long had = effectLog.happened().stream().filter(effect -> effect.pid() == pid).count();
      assertEquals(10, had);
    }
  }

  @Test
  void aCallIsCancelledWhereverItRuns() throws Exception {
    for (int i = 0; i < 3; i++) {
      nodes.callLater(1, "s", "sleep", "{\"ms\":30000}");
    }
    nodes.until(() -> server(1).path("pending_calls").asInt() == 3);
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Answer accepted = nodes.call(2, "s", "sleep", "{\"ms\":30000}", "prefer", "respond-async");
      calls.add(accepted.header("location"));
    }
    nodes.until(() -> server(1).path("pending_calls").asInt() == 6);
    for (String call : calls) {
      assertEquals(200, nodes.delete(3, call).status());
    }

    nodes.until(() -> server(1).path("pending_calls").asInt() == 3);
    for (int node = 1; node <= 3; node++) {
      assertEquals("1", nodes.call(node, "s", "cancels", "{}").said(), "n" + node);
    }
  }

  @Test
  void aKilledNodeTakesItsInstanceWithItAndTheOthersGoOn() throws Exception {
    int dead = 2;
    List<Integer> doors = nodes.others(dead);
    try (Load load =
        new Load(nodes, SPREAD, 60, () -> doors.get(turn.incrementAndGet() % doors.size()))) {
      load.awaitMore(100);

      nodes.kill(dead);
      load.awaitMore(100);
      awaitEven();
      load.awaitMore(100);

      List<Made> made = load.end();
      System.err.println("killed node of an instance: " + Load.outcomes(made));
      effectLog.assertAgree(made, 3);
      for (Made call : made) {
        boolean wasThere = call.outcome().startsWith("502 node_lost");
        assertTrue(call.isDone() || wasThere, call.outcome() + call.answer());
      }
    }
    nodes.start(dead);
    nodes.awaitMembers();
    awaitPlaces(1, 1, 1);
    nodes.assertAllAnswer(SPREAD);
  }

  @Test
  void callsAtTheOthersDoNotWaitForAFrozenNode() throws Exception {
    int frozen = 3;
    nodes.pause(frozen);
    try {
      for (int i = 0; i < 50; i++) {
        for (int node : List.of(1, 2)) {
          assertEquals(200, effect(node, "n" + node + "c" + i).status());
        }
      }
      for (int node : List.of(1, 2)) {
        nodes.until(() -> !places(node).contains(frozen));
      }
    } finally {
      nodes.goOn(frozen);
    }
    awaitPlaces(1, 1, 1);
    nodes.assertAllAnswer(SPREAD);
    assertEquals(100, effectLog.happened().size());
  }

  @Test
  void aRollingRestartIsNotNoticedByCallers() throws Exception {
    List<Made> made = Load.throughARollingRestart(nodes, SPREAD);

    System.err.println("rolling restart of instances: " + Load.outcomes(made));
    effectLog.assertAgree(made, 3);
    made.forEach(call -> assertTrue(call.isDone(), call.outcome() + call.answer()));
    awaitPlaces(1, 1, 1);
  }

  @Test
  void aRestartReplacesOneAfterTheOtherAndCallsGoOn() throws Exception {
    List<Long> before = pids(1);
    try (Load load = new Load(nodes, SPREAD, 10, () -> 1 + turn.incrementAndGet() % 3)) {
      load.awaitMore(20);

      Answer restarted = nodes.post(2, "/servers/s/restart", "");
      assertEquals(200, restarted.status(), restarted.toString());
      load.awaitMore(20);

      List<Made> made = load.end();
      effectLog.assertAgree(made, 3);
      made.forEach(call -> assertTrue(call.isDone(), call.outcome() + call.answer()));
      assertEquals(3, restarted.body().path("pids").size());
      assertEquals(3, restarted.body().path("restarts").asInt());
    }
    before.forEach(pid -> assertTrue(!isAlive(pid), "it still runs"));
    awaitPlaces(1, 1, 1);
  }

  @Test
  void anInstanceThatCrashesIsStartedAgainAndTheOthersAreCalledMeanwhile() throws Exception {
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
  void whatIsStoppedAtOneNodeIsStoppedEverywhere() throws Exception {
    List<Long> before = pids(1);

    assertEquals(200, nodes.delete(2, "/servers/s").status());

    before.forEach(pid -> assertTrue(!isAlive(pid), "it still runs"));
    for (int node = 1; node <= 3; node++) {
      int asked = node;
      nodes.until(() -> nodes.get(asked, "/servers/s").status() == 404);
    }
  }

  @Test
  void aServerThatIsPostedIsSpreadAndDeleted() throws Exception {
    String entry = TestBridge.json(Nodes.entry(folder, "'instances':2"));
    Answer started = nodes.post(3, "/servers", "{\"id\":\"posted\"," + entry.substring(1));
    assertEquals(201, started.status(), started.toString());
    for (int node = 1; node <= 3; node++) {
      int asked = node;
      nodes.until(() -> nodes.get(asked, "/servers/posted").body().path("nodes").size() == 2);
      nodes.awaitReady(node, "posted");
      JsonNode there = nodes.get(node, "/servers/posted").body();
      assertEquals(2, there.path("pids").size(), there.toString());
      List<String> names = there.path("nodes").findValuesAsText("node");
      assertEquals(2, names.stream().distinct().count(), names.toString());
    }

    assertEquals(200, nodes.delete(1, "/servers/posted").status());
    assertEquals(404, nodes.call(1, "posted", "echo", "{}").status());
  }

  @Test
  void aFileThatAsksForFewerOrForMoreIsFollowed() throws Exception {
    for (int node = 1; node <= 3; node++) {
      nodes.write(node, "'mcpServers':{" + effectLog.servers(SPREAD) + "}");
    }
    for (int node = 1; node <= 3; node++) {
      int asked = node;
      nodes.until(() -> server(asked).path("nodes").isMissingNode());
      nodes.awaitReady(node, "s");
      nodes.until(() -> pids(asked).size() == 1);
    }
    nodes.assertAllAnswer(SPREAD);

    for (int node = 1; node <= 3; node++) {
      nodes.write(node, "'mcpServers':{" + effectLog.servers(SPREAD, "'instances':3") + "}");
    }
    awaitPlaces(1, 1, 1);
    nodes.assertAllAnswer(SPREAD);
  }
}
