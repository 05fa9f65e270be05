package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that are started and stopped through the API of any node, and their placement. */
@Tag("cluster")
@Tag("slow")
class ClusterServersIT {
  @TempDir static Path folder;
  @AutoClose private static Nodes nodes;

  @BeforeAll
  static void start() throws Exception {
    nodes = Nodes.start(folder, 3, configured());
  }

  private static String configured() {
    return "'fixed':%s,'homeless':%s,'ended':%s"
        .formatted(
            Nodes.entry(folder, "'placement':['n2']"),
            Nodes.entry(folder, "'placement':['quantum']"),
            Nodes.entry(folder, ""));
  }

  @BeforeEach
  void allAreThere() throws Exception {
    nodes.startMissing();
    nodes.awaitReady(List.of("fixed"));
  }

  /** The API definition of a scripted server. */
  private static String definition(String id, String... modes) {
    String entry = TestBridge.json(Nodes.entry(folder, "", modes));
    return "{\"id\":\"" + id + "\"," + entry.substring(1);
  }

  private static void assertGoneEverywhere(String id) throws Exception {
    for (int node = 1; node <= 3; node++) {
      int door = node;
      nodes.until(() -> nodes.get(door, "/servers/" + id).status() == 404);
      assertEquals(404, nodes.call(node, id, "echo", "{}").status());
    }
  }

  @Test
  void postedServerIsUsableAtAllNodesAndStoppedAtAnother() throws Exception {
    for (int i = 0; i < 6; i++) {
      String id = "new" + i;
      Answer started = nodes.post(1 + i % 3, "/servers", definition(id));
      assertEquals(201, started.status(), started.toString());
      for (int node = 1; node <= 3; node++) {
        Answer echo = nodes.call(node, id, "echo", "{\"n\":1.10}");
        assertTrue(echo.text().contains("{\"n\":1.10}"), "n" + node + " " + echo);
      }
      nodes.until(() -> nodes.get(1, "/servers/" + id).body().path("pids").size() == 1);
      long pid = nodes.get(1, "/servers/" + id).body().path("pids").get(0).asLong();

      Answer stopped = nodes.delete(1 + (i + 1) % 3, "/servers/" + id);

      assertEquals(200, stopped.status(), stopped.toString());
      assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty(), "still running");
      assertGoneEverywhere(id);
    }
  }

  @Test
  void concurrentStartsWithOneIdSucceedOnce() throws Exception {
    for (int round = 0; round < 3; round++) {
      String id = "twin" + round;
      List<CompletableFuture<Answer>> both =
          Stream.of(1, 2).map(n -> nodes.postLater(n, "/servers", definition(id))).toList();

      List<Integer> statuses = both.stream().map(a -> a.join().status()).sorted().toList();

      assertEquals(List.of(201, 409), statuses, both.get(0).join() + " " + both.get(1).join());
      assertEquals(409, nodes.post(3, "/servers", definition(id)).status());
      assertEquals(200, nodes.call(3, id, "echo", "{}").status());
      assertEquals(200, nodes.delete(3, "/servers/" + id).status());
      assertGoneEverywhere(id);
    }
  }

  @Test
  void serverThatFailsToStartIsUnknownEverywhere() throws Exception {
    for (int node = 1; node <= 3; node++) {
      Answer failed = nodes.post(node, "/servers", definition("broken" + node, "--exit"));

      assertEquals(502, failed.status(), failed.toString());
      assertEquals("start_failed", failed.code());
      assertGoneEverywhere("broken" + node);
      Answer started = nodes.post(1, "/servers", definition("broken" + node));
      assertEquals(201, started.status(), started.toString());
      assertEquals(200, nodes.delete(1, "/servers/broken" + node).status());
    }
  }

  @Test
  void concurrentStopsAreAllAnswered() throws Exception {
    assertEquals(201, nodes.post(1, "/servers", definition("shortlived")).status());
    List<CompletableFuture<Integer>> both =
        IntStream.of(1, 2, 3)
            .mapToObj(
                node -> Background.call(() -> nodes.delete(node, "/servers/shortlived").status()))
            .toList();

    List<Integer> statuses = new ArrayList<>();
    for (CompletableFuture<Integer> each : both) {
      statuses.add(each.get(90, TimeUnit.SECONDS));
    }
    assertTrue(statuses.contains(200), statuses.toString());
    assertTrue(List.of(200, 404).containsAll(statuses), statuses.toString());
    assertGoneEverywhere("shortlived");
  }

  @Test
  void configuredServerThatWasStoppedStaysStopped() throws Exception {
    nodes.awaitReady(List.of("ended"));
    int door = nodes.anyOther(nodes.owner(1, "ended"));

    assertEquals(200, nodes.delete(door, "/servers/ended").status());

    assertGoneEverywhere("ended");
  }

  @Test
  void serverRunsOnTheNodeWithItsLabel() throws Exception {
    for (int node = 1; node <= 3; node++) {
      assertEquals(2, nodes.owner(node, "fixed"));
    }
  }

  @Test
  void serverWithoutMatchingNodeReportsIt() throws Exception {
    for (int node = 1; node <= 3; node++) {
      JsonNode shown = nodes.get(node, "/servers/homeless").body();
      assertEquals("failed", shown.path("state").asText(), shown.toString());
      assertTrue(shown.path("last_error").asText().contains("quantum"), shown.toString());
      assertTrue(shown.path("pids").isEmpty());
      Answer refused = nodes.call(node, "homeless", "echo", "{}");
      assertEquals(503, refused.status(), refused.toString());
      assertEquals("server_unavailable", refused.code());
      assertEquals("no", refused.at("/executed"));
      assertTrue(refused.at("/detail").contains("quantum"), refused.toString());
    }
  }

  @Test
  void serverEventsReachAllNodes() throws Exception {
    List<CompletableFuture<String>> events =
        IntStream.of(1, 2, 3).mapToObj(node -> awaitReadyEvent(node, "\"heard\"")).toList();

    Answer started = nodes.post(2, "/servers", definition("heard"));
    assertEquals(201, started.status(), started.toString());

    for (CompletableFuture<String> each : events) {
      assertTrue(each.get(30, TimeUnit.SECONDS).contains("\"state\":\"ready\""));
    }
    assertEquals(200, nodes.delete(1, "/servers/heard").status());
  }

  /** The first "ready" event of a node that contains the text; subscribed on return. */
  private static CompletableFuture<String> awaitReadyEvent(int node, String text) {
    try {
      HttpResponse<java.io.InputStream> stream =
          nodes
              .client()
              .send(
                  HttpRequest.newBuilder(nodes.uri(node, "/events")).build(),
                  HttpResponse.BodyHandlers.ofInputStream());
      return CompletableFuture.supplyAsync(
          () -> {
            try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
              return lines
                  .lines()
                  .filter(line -> line.contains(text) && line.contains("ready"))
                  .findFirst()
                  .orElseThrow();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          },
          task -> new Thread(task, "events").start());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void entryThatPointsToItsOwnClusterDoesNotStart() throws Exception {
    String round = ",'round':{'url':'" + nodes.uri(2, "/mcp") + "'}";
    nodes.write(1, "'mcpServers':{" + configured() + round + "}");

    nodes.until(() -> nodes.get(2, "/servers/round").body().path("last_error").isTextual());

    JsonNode shown = nodes.get(2, "/servers/round").body();
    String reason = shown.path("last_error").asText();
    assertTrue(reason.contains("this bridge itself"), shown.toString());
    assertEquals("n1", shown.path("node").asText());
    Answer refused = nodes.call(2, "round", "echo", "{}");
    assertEquals("no", refused.at("/executed"), refused.toString());
    nodes.write(1, "'mcpServers':{" + configured() + "}");
    assertGoneEverywhere("round");
  }

  @Test
  void postedServersSurviveTheDeathOfAllNodes() throws Exception {
    assertEquals(201, nodes.post(1, "/servers", definition("kept")).status());

    for (int node = 1; node <= 3; node++) {
      nodes.kill(node);
    }
    nodes.startMissing();

    nodes.awaitReady(List.of("kept"));
    nodes.assertAllAnswer(List.of("kept"));
    assertEquals(409, nodes.post(2, "/servers", definition("kept")).status());
  }

  @Test
  void nodeWithoutServersVotesButRunsNone(@TempDir Path other) throws Exception {
    try (Nodes three = Nodes.start(other, 3, "'s':" + Nodes.entry(other, ""))) {
      three.write(3, "'mcpServers':{}");
      three.until(() -> three.stderr(3).contains("was reloaded and applied"));
      three.until(() -> three.owner(3, "s") != 3);
      three.awaitReady(3, "s");
      int owner = three.owner(3, "s");

      three.kill(owner);

      three.awaitMembers();
      three.assertAllAnswer(List.of("s"));
      assertEquals(3 - owner, three.owner(3, "s"));
    }
  }

  @Test
  void clusterOfTwoNodesNeedsBoth(@TempDir Path other) throws Exception {
    try (Nodes two = Nodes.start(other, 2, "'s':" + Nodes.entry(other, ""))) {
      two.awaitReady(List.of("s"));

      two.kill(2);

      two.until(() -> two.call(1, "s", "echo", "{}").code().equals("no_quorum"));
      assertEquals("cut_off", two.state(1));
      two.startMissing();
      two.assertAllAnswer(List.of("s"));
    }
  }

  @Test
  void clusterOfFiveNodesGoesOnWithoutTwo(@TempDir Path other) throws Exception {
    List<String> servers = List.of("a", "b", "c");
    EffectLog effectLog = new EffectLog(other);
    AtomicInteger turn = new AtomicInteger();
    try (Nodes five = Nodes.start(other, 5, effectLog.servers(servers))) {
      five.awaitReady(servers);
      int primary = five.primary(1);
      int second = five.others(primary).get(0);
      List<Integer> others = five.others(primary).stream().filter(node -> node != second).toList();

      try (Load load =
          new Load(five, servers, 10, () -> others.get(turn.incrementAndGet() % others.size()))) {
        load.awaitMore(20);
        five.kill(primary);
        five.kill(second);
        five.until(() -> five.areMembers(others));
        load.awaitMore(50);
        effectLog.assertConsistent(load, "two of five killed");
      }
      five.startMissing();
      five.awaitMembers();
      five.assertAllAnswer(servers);
      five.stopAll();
    }
  }

  @Test
  void postedServerSurvivesTheDeathOfItsNodes() throws Exception {
    assertEquals(201, nodes.post(1, "/servers", definition("mortal")).status());

    int owner = nodes.owner(1, "mortal");
    nodes.kill(owner);
    nodes.awaitMembers();
    int next = nodes.anyOther();
    nodes.until(() -> nodes.owner(next, "mortal") != owner);
    assertEquals(200, nodes.call(next, "mortal", "echo", "{}").status());

    nodes.start(owner);
    nodes.awaitMembers();
    nodes.awaitReady(owner, "mortal");
    assertEquals(200, nodes.call(owner, "mortal", "echo", "{}").status());
    assertEquals(409, nodes.post(owner, "/servers", definition("mortal")).status());
  }
}
