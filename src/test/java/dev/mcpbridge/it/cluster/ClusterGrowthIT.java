package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Approvals;
import dev.mcpbridge.fixture.Approvals.PendingConfirmation;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.CompletedCall;
import dev.mcpbridge.fixture.LongForm;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that join and leave while the cluster runs, and changes of the nodes that decide. */
@Tag("cluster")
@Tag("slow")
class ClusterGrowthIT {
  private static final List<String> SERVERS = List.of("a", "b", "c", "d", "e");

  @TempDir private Path folder;
  private EffectLog effectLog;
  private final AtomicInteger turn = new AtomicInteger();

  @BeforeEach
  void logEffects() {
    effectLog = new EffectLog(folder);
  }

  private Nodes grown(int members, int count) throws Exception {
    String gated = effectLog.gatedServer("g");
    Nodes nodes =
        Nodes.growing(
            folder,
            members,
            count,
            "'drain':10,'mcpServers':{" + effectLog.servers(SERVERS) + "," + gated + "}");
    nodes.awaitReady(List.of("g"));
    return nodes;
  }

  private static List<String> voters(Nodes nodes, int at) throws Exception {
    JsonNode members = nodes.get(at, "/cluster").body().path("members");
    return StreamSupport.stream(members.spliterator(), false)
        .filter(member -> member.path("voter").asBoolean())
        .map(member -> member.path("name").asText())
        .sorted()
        .toList();
  }

  private static void change(Nodes nodes, int at, String method, String node) throws Exception {
    nodes.until(
        () -> {
          Answer changed = nodes.send(at, method, "/cluster/voters/" + node);
          return changed.status() == 200;
        });
  }

  private int any(Nodes nodes) {
    List<Integer> up = nodes.up();
    return up.get(turn.incrementAndGet() % up.size());
  }

  @Test
  void clusterGrowsFromOneNodeAndBackUnderLoadWithoutAFailedCall() throws Exception {
    int most = LongForm.times(3, 5);
    try (Nodes nodes = grown(1, most)) {
      nodes.awaitReady(SERVERS);
      try (Load load = new Load(nodes, SERVERS, 10, () -> 1)) {
        load.awaitMore(20);
        for (int node = 2; node <= most; node++) {
          nodes.start(node);
          nodes.awaitMembers();
          load.awaitMore(20);
        }
        assertEquals(List.of("n1"), voters(nodes, 3));
        for (int node = most; node >= 2; node--) {
          nodes.stop(node);
          nodes.awaitMembers();
          load.awaitMore(20);
        }

        List<CompletedCall> made = effectLog.assertConsistent(load, "one to " + most + " and back");
        for (CompletedCall call : made) {
          assertTrue(call.isDone(), call.server() + " at n" + call.node() + ": " + call.answer());
        }
      }
      nodes.assertAllAnswer(SERVERS);
      nodes.stopAll();
    }
  }

  @Test
  void votersAreReplacedUnderLoad() throws Exception {
    int replaced = LongForm.times(1, 3);
    try (Nodes nodes = grown(3, 3 + replaced)) {
      nodes.awaitReady(SERVERS);
      try (Load load = new Load(nodes, SERVERS, 10, () -> any(nodes))) {
        load.awaitMore(20);
        for (int node = 1; node <= replaced; node++) {
          nodes.start(node + 3);
          nodes.awaitMembers();
          change(nodes, node + 3, "PUT", "n" + (node + 3));
          change(nodes, node + 3, "DELETE", "n" + node);
          nodes.stop(node);
          nodes.awaitMembers();
          load.awaitMore(20);
        }
        assertEquals(
            IntStream.rangeClosed(1 + replaced, 3 + replaced).mapToObj(n -> "n" + n).toList(),
            voters(nodes, 4));
        int dead = nodes.primary(4);
        nodes.kill(dead);
        nodes.awaitMembers();
        load.awaitMore(20);

        effectLog.assertConsistent(load, "voters replaced");
      }
      nodes.startMissing();
      nodes.assertAllAnswer(SERVERS);
      nodes.stopAll();
    }
  }

  @Test
  void lostVoterIsReplacedAndItsNameRejectedIfUnknown() throws Exception {
    try (Nodes nodes = grown(3, 4)) {
      nodes.kill(2);
      nodes.start(4);
      nodes.awaitMembers();

      Answer unknown = nodes.send(1, "PUT", "/cluster/voters/nobody");
      assertEquals("409 voters_unchanged", unknown.status() + " " + unknown.code());
      change(nodes, 1, "PUT", "n4");
      change(nodes, 1, "DELETE", nodes.members().get(1));
      nodes.kill(3);

      nodes.awaitMembers();
      nodes.assertAllAnswer(SERVERS);
      assertEquals(List.of("n1", "n4"), voters(nodes, 1));
      nodes.stopAll();
    }
  }

  /** Two of three are there, but one knows nothing: what was stored must not be forgotten. */
  @Test
  void nodeThatLostItsFolderDoesNotVoteAndGetsTheStateFromTheOthers() throws Exception {
    try (Nodes nodes = grown(3, 3)) {
      Approvals approvals = new Approvals(nodes, "g");
      List<PendingConfirmation> all = approvals.requestMany(1, 20);
      nodes.kill(2);
      nodes.awaitMembers();
      nodes.kill(1);
      nodes.until(() -> nodes.state(3).equals("cut_off"));
      nodes.deleteState(1);
      nodes.start(1);
      nodes.until(() -> nodes.stderr(1).contains("connected=true name=n3"));
      TimeUnit.SECONDS.sleep(5); // long enough to elect a leader; the two must not
      assertEquals("cut_off", nodes.state(3));
      nodes.start(2);
      nodes.awaitMembers();

      for (int node = 2; node <= 3; node++) {
        nodes.kill(node);
        nodes.deleteState(node);
        nodes.awaitMembers();
        nodes.startMissing();
      }

      for (PendingConfirmation confirmation : all) {
        assertEquals("done", approvals.decide(2, confirmation, true).firstText());
        assertEquals(1, effectLog.count(confirmation.note()));
      }
      nodes.stopAll();
    }
  }
}
