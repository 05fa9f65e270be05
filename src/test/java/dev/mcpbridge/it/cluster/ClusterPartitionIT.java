package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.OwnerTable;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Network;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.time.Duration;
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

/** Nodes on separate machines whose network fails silently. */
@Tag("cluster")
@Tag("slow")
class ClusterPartitionIT {
  private static final List<String> SERVERS = List.of("a", "b", "c", "d", "e");

  /** A tool with a short timeout. */
  private static final String BRIEF = "cancels";

  @TempDir static Path folder;
  private static EffectLog effectLog;
  private static Network network;
  private static Nodes nodes;
  private static final AtomicInteger turn = new AtomicInteger();

  @BeforeAll
  static void start() throws Exception {
    effectLog = new EffectLog(folder);
    network = new Network(3);
    String servers = effectLog.servers(SERVERS, "'tools':{'" + BRIEF + "':{'timeout':5}}");
    nodes = Nodes.on(network, folder, 3, "'mcpServers':{" + servers + "}");
  }

  @BeforeEach
  void allAreThere() throws Exception {
    network.repair();
    nodes.awaitMembers();
    nodes.awaitPreferredOwners(SERVERS);
  }

  @AfterEach
  void noProcessOfALostNodeIsLeft() throws Exception {
    nodes.awaitNoOrphans();
  }

  @AfterAll
  static void stop() throws Exception {
    nodes.stopAll();
  }

  private int anyUp() {
    return 1 + turn.incrementAndGet() % 3;
  }

  /** The log line of other nodes when they lose a node. */
  private String lost(int node) {
    return "node=" + nodes.members().get(node - 1) + " connected=false";
  }

  @Test
  void isolatedNodeStopsServersBeforeOthersStartThem() throws Exception {
    int isolated = nodes.owner(1, "a");
    int other = nodes.anyOther(isolated);
    try (Load load = new Load(nodes, SERVERS, 30, this::anyUp)) {
      load.awaitMore(20);
      List<Long> pids = new ArrayList<>();
      for (String server : SERVERS) {
        if (nodes.owner(isolated, server) == isolated) {
          pids.add(nodes.get(isolated, "/servers/" + server).body().path("pids").get(0).asLong());
        }
      }

      network.unplug(isolated);
      for (String server : SERVERS) {
        nodes.until(() -> nodes.owner(other, server) != isolated);
        nodes.awaitReady(other, server);
        assertEquals(200, nodes.call(other, server, "echo", "{}").status());
      }
      for (long pid : pids) {
        assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
      }
      nodes.until(() -> nodes.state(isolated).equals("cut_off"));
      nodes.until(() -> nodes.call(isolated, "a", "echo", "{}").code().equals("no_quorum"));

      network.plugIn(isolated);
      nodes.awaitMembers();
      load.awaitMore(20);
      effectLog.assertConsistent(load, "isolated");
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void isolatedPrimaryIsReplaced() throws Exception {
    int primary = nodes.primary(1);
    int other = nodes.anyOther(primary);
    int before = nodes.stderr(other).lastIndexOf(lost(primary));

    network.unplug(primary);
    nodes.until(() -> nodes.primary(other) != primary && nodes.primary(other) != 0);
    nodes.until(() -> nodes.state(primary).equals("cut_off"));
    nodes.until(() -> nodes.stderr(other).lastIndexOf(lost(primary)) > before);
    for (String server : SERVERS) {
      assertEquals(200, nodes.call(other, server, "echo", "{}").status());
    }
    network.plugIn(primary);

    nodes.awaitMembers();
    assertNotEquals(0, nodes.primary(primary));
    nodes.assertAllAnswer(SERVERS);
  }

  /** The elected node is not ready in time: its follower tries five times, and votes again. */
  @Test
  void leaderThatItsFollowerDidNotReachVotesAgainSoon() throws Exception {
    int primary = nodes.primary(1);
    List<Integer> others = nodes.others(primary);
    for (int node : others) {
      network.refuse(node, nodes.port(node) + 1);
    }
    network.unplug(primary);
    nodes.until(() -> network.refused(others.get(0)) + network.refused(others.get(1)) >= 5);

    for (int node : others) {
      network.accept(node);
    }

    int other = others.get(0);
    nodes.within(Duration.ofSeconds(5), () -> others.contains(nodes.primary(other)));
    nodes.until(() -> nodes.areMembers(others));
  }

  @Test
  void clusterRecoversFromShortOutages() throws Exception {
    try (Load load = new Load(nodes, SERVERS, 20, this::anyUp)) {
      for (int i = 0; i < 6; i++) {
        load.awaitMore(10);
        int node = 1 + i % 3;
        network.unplug(node);
        TimeUnit.MILLISECONDS.sleep(200 + 300 * i); // from an instant to longer than a lease
        network.plugIn(node);
        nodes.awaitMembers();
      }
      load.awaitMore(10);
      effectLog.assertConsistent(load, "short outages");
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void fullyPartitionedNodesFormTheClusterAgain() throws Exception {
    for (int node = 1; node <= 3; node++) {
      network.unplug(node);
    }
    for (int node = 1; node <= 3; node++) {
      int each = node;
      nodes.until(() -> nodes.state(each).equals("cut_off"));
    }
    nodes.until(() -> nodes.processes().size() == 3);
    for (int node = 1; node <= 3; node++) {
      network.plugIn(node);
    }

    nodes.awaitMembers();

    nodes.assertAllAnswer(SERVERS);
  }

  /** Neither node is the primary, so both remain members and learn of each other from it. */
  @Test
  void callToUnreachableOwnerWaitsThenFails() throws Exception {
    int primary = nodes.primary(1);
    int owner = nodes.anyOther(primary);
    int door = nodes.anyOther(primary, owner);
    String server =
        SERVERS.stream().filter(each -> OwnerTable.of(each, nodes.up()) == owner).findFirst().get();
    nodes.until(() -> nodes.owner(door, server) == owner);

    int before = nodes.stderr(door).lastIndexOf(lost(owner));
    network.partition(owner, door);
    nodes.until(() -> nodes.stderr(door).lastIndexOf(lost(owner)) > before);
    CompletableFuture<Answer> refused = nodes.callLater(door, server, BRIEF, "{}");

    assertEquals(200, nodes.call(primary, server, "echo", "{}").status());
    Answer answer = refused.get(60, TimeUnit.SECONDS);
    assertEquals("503 node_unreachable", answer.status() + " " + answer.code());
    assertEquals("no", answer.at("/executed"));
    assertEquals("member", nodes.state(door));
    assertEquals("member", nodes.state(owner));
    CompletableFuture<Answer> waiting = nodes.callLater(door, server, "echo", "{}");
    network.repair();
    assertEquals(200, waiting.get(60, TimeUnit.SECONDS).status());
  }

  @Test
  void callAtAnUnreachableNodeFailsSoon() throws Exception {
    int isolated = nodes.owner(1, "a");
    int other = nodes.anyOther(isolated);
    String call = "{\"method\":\"elicitation/create\"}";
    CompletableFuture<Answer> hanging = nodes.callLater(other, "a", "never", call);
    nodes.until(() -> nodes.get(isolated, "/servers/a").body().path("pending_calls").asInt() == 1);

    network.unplug(isolated);

    Answer lost = hanging.get(20, TimeUnit.SECONDS);
    assertEquals("node_lost", lost.code(), lost.toString());
    assertEquals("unknown", lost.at("/executed"));
    network.plugIn(isolated);
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
  }
}
