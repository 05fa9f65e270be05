package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.OwnerTable;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.Made;
import dev.mcpbridge.fixture.Network;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Nodes on machines of their own, whose network fails without a word. */
@ExtendWith(Nodes.Shown.class)
class ClusterPartitionIT {
  private static final List<String> SERVERS = List.of("a", "b", "c", "d", "e");

  @TempDir Path folder;
  private EffectLog effectLog;
  private Network network;
  private Nodes nodes;
  private final AtomicInteger turn = new AtomicInteger();

  @BeforeEach
  void start() throws Exception {
    effectLog = new EffectLog(folder);
    network = new Network(3);
    nodes = Nodes.on(network, folder, 3, "'mcpServers':{" + effectLog.servers(SERVERS) + "}");
    nodes.awaitReady(SERVERS);
  }

  @AfterEach
  void stop() throws Exception {
    nodes.end();
  }

  private int anyUp() {
    return 1 + turn.incrementAndGet() % 3;
  }

  /** What others say of a node that they have lost. */
  private String lost(int node) {
    return "node=" + nodes.members().get(node - 1) + " connected=false";
  }

  @Test
  void whoIsCutOffStopsWhatItRunsBeforeAnotherStartsIt() throws Exception {
    int alone = nodes.owner(1, "a");
    int other = nodes.other(alone);
    try (Load load = new Load(nodes, SERVERS, 30, this::anyUp)) {
      load.awaitMore(20);
      List<Long> pids = new ArrayList<>();
      for (String server : SERVERS) {
        if (nodes.owner(alone, server) == alone) {
          pids.add(nodes.get(alone, "/servers/" + server).body().path("pids").get(0).asLong());
        }
      }

      network.pullOut(alone);
      for (String server : SERVERS) {
        nodes.until(() -> nodes.owner(other, server) != alone);
        nodes.awaitReady(other, server);
        assertEquals(200, nodes.call(other, server, "echo", "{}").status());
      }
      for (long pid : pids) {
        assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
      }
      nodes.until(() -> nodes.state(alone).equals("cut_off"));
      nodes.until(() -> nodes.call(alone, "a", "echo", "{}").code().equals("no_quorum"));

      network.plugIn(alone);
      nodes.awaitMembers();
      load.awaitMore(20);
      List<Made> made = load.end();
      System.err.println("cut off: " + Load.outcomes(made));
      effectLog.assertAgree(made);
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void whoeverIsThePrimaryMayBeCutOff() throws Exception {
    int primary = nodes.primary(1);
    int other = nodes.other(primary);
    int before = nodes.said(other).lastIndexOf(lost(primary));

    network.pullOut(primary);
    nodes.until(() -> nodes.primary(other) != primary && nodes.primary(other) != 0);
    nodes.until(() -> nodes.state(primary).equals("cut_off"));
    nodes.until(() -> nodes.said(other).lastIndexOf(lost(primary)) > before);
    for (String server : SERVERS) {
      assertEquals(200, nodes.call(other, server, "echo", "{}").status());
    }
    network.plugIn(primary);

    nodes.awaitMembers();
    assertNotEquals(0, nodes.primary(primary));
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void aNetworkThatIsGoneForAMomentIsHardlyNoticed() throws Exception {
    try (Load load = new Load(nodes, SERVERS, 20, this::anyUp)) {
      for (int i = 0; i < 6; i++) {
        load.awaitMore(10);
        int node = 1 + i % 3;
        network.pullOut(node);
        TimeUnit.MILLISECONDS.sleep(200 + 300 * i); // from a blink to longer than a lease
        network.plugIn(node);
        nodes.awaitMembers();
      }
      load.awaitMore(10);
      List<Made> made = load.end();
      System.err.println("blinks: " + Load.outcomes(made));
      effectLog.assertAgree(made);
    }
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void allThatAreCutOffFromEachOtherFindTogetherAgain() throws Exception {
    for (int node = 1; node <= 3; node++) {
      network.pullOut(node);
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

  /** Neither is the primary, so that both take part, and each hears of the other from it. */
  @Test
  void whoCannotReachTheOwnerThoughBothTakePartWaitsAndSaysSo() throws Exception {
    int primary = nodes.primary(1);
    int owner = nodes.other(primary);
    int door = nodes.other(primary, owner);
    String server =
        SERVERS.stream().filter(each -> OwnerTable.of(each, nodes.up()) == owner).findFirst().get();
    nodes.until(() -> nodes.owner(door, server) == owner);

    int before = nodes.said(door).lastIndexOf(lost(owner));
    network.part(owner, door);
    nodes.until(() -> nodes.said(door).lastIndexOf(lost(owner)) > before);
    CompletableFuture<Answer> refused = nodes.callLater(door, server, "echo", "{}");

    assertEquals(200, nodes.call(primary, server, "echo", "{}").status());
    Answer answer = refused.get(60, TimeUnit.SECONDS);
    assertEquals("503 node_unreachable", answer.status() + " " + answer.code());
    assertEquals("no", answer.body().path("executed").asText());
    assertEquals("member", nodes.state(door));
    assertEquals("member", nodes.state(owner));
    CompletableFuture<Answer> waiting = nodes.callLater(door, server, "echo", "{}");
    network.mend();
    assertEquals(200, waiting.get(60, TimeUnit.SECONDS).status());
  }

  @Test
  void aCallThatRanWhereNobodyGetsToIsSoonGivenUp() throws Exception {
    int alone = nodes.owner(1, "a");
    int other = nodes.other(alone);
    String call = "{\"method\":\"elicitation/create\"}";
    CompletableFuture<Answer> hanging = nodes.callLater(other, "a", "never", call);
    nodes.until(() -> nodes.get(alone, "/servers/a").body().path("pending_calls").asInt() == 1);

    network.pullOut(alone);

    Answer lost = hanging.get(20, TimeUnit.SECONDS);
    assertEquals("node_lost", lost.code(), lost.toString());
    assertEquals("unknown", lost.body().path("executed").asText());
    network.plugIn(alone);
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
  }
}
