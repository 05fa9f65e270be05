package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Approvals;
import dev.mcpbridge.fixture.Approvals.PendingConfirmation;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.CompletedCall;
import dev.mcpbridge.fixture.Network;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes whose clock jumps, whose disk is full or whose network is slow. */
@Tag("cluster")
@Tag("slow")
class ClusterConditionsIT {
  private static final List<String> SERVERS = List.of("a", "b", "c");
  private static final String GUARDED = "x";

  @TempDir Path folder;
  private EffectLog effectLog;
  private String config;
  private Nodes nodes;
  private Path disk;
  private final AtomicInteger turn = new AtomicInteger();

  @BeforeEach
  void describe() {
    effectLog = new EffectLog(folder);
    String servers =
        effectLog.servers(SERVERS) + "," + effectLog.servers(List.of(GUARDED), "'riskLevel':2");
    config = "'mcpServers':{" + servers + "}";
  }

  @AfterEach
  void stop() throws Exception {
    nodes.stopAll();
    if (disk != null) {
      run("umount", disk.toString());
    }
  }

  private static void run(String... command) throws Exception {
    assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
  }

  private int anyUp() {
    List<Integer> up = nodes.up();
    return up.get(turn.incrementAndGet() % up.size());
  }

  @Test
  void clockThatJumpsByMinutesEndsNoLeaseAndNoConfirmation() throws Exception {
    int jumping = 3;
    Path clock = Files.writeString(folder.resolve("clock"), "+0s");
    nodes = Nodes.with(folder, 3, config);
    nodes.stop(jumping);
    nodes.setEnvironment(
        jumping,
        Map.of(
            "LD_PRELOAD",
            Requirements.fakeClock().toString(),
            "FAKETIME_TIMESTAMP_FILE",
            clock.toString(),
            "FAKETIME_NO_CACHE",
            "1",
            "FAKETIME_DONT_FAKE_MONOTONIC",
            "1",
            "FAKETIME_FORCE_MONOTONIC_FIX",
            "0"));
    nodes.start(jumping);
    nodes.awaitMembers();
    nodes.awaitPreferredOwners(SERVERS);
    nodes.awaitReady(jumping, GUARDED);
    Approvals approvals = new Approvals(nodes, GUARDED);
    PendingConfirmation asked = approvals.request(jumping, 1);
    Map<Integer, String> before = new HashMap<>();
    for (int node : nodes.up()) {
      before.put(node, nodes.stderr(node));
    }

    try (Load load = new Load(nodes, SERVERS, 10, this::anyUp)) {
      for (String offset : List.of("+20m", "-20m", "+0s")) {
        Files.writeString(clock, offset);
        load.awaitMore(100);
      }
      Files.writeString(clock, "+20m");
      for (CompletedCall call : effectLog.assertConsistent(load, "clock")) {
        assertTrue(call.isDone(), call.outcome());
      }
    }
    for (int node : nodes.up()) {
      String since = nodes.stderr(node).substring(before.get(node).length());
      assertFalse(since.contains("lease lost"), since);
    }
    Answer done = approvals.decide(jumping, asked, true);
    assertEquals("done", done.firstText(), done.toString());
    assertEquals(1, effectLog.count(asked.note()));
  }

  @Test
  void callsOverSlowLinksAreAnswered() throws Exception {
    Network network = new Network(3);
    nodes = Nodes.patientOn(network, folder, 3, config);
    nodes.awaitReady(SERVERS);

    network.slowLinks(100, 1);

    try (Load load = new Load(nodes, SERVERS, 20, this::anyUp)) {
      load.awaitMore(200);
      List<CompletedCall> made = effectLog.assertConsistent(load, "slow links");
      long done = made.stream().filter(CompletedCall::isDone).count();
      System.err.println("slow links: " + Load.outcomes(made));
      assertTrue(done > made.size() * 0.9, Load.outcomes(made).toString());
    }
    network.repair();
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void nodeWithAFullDiskLeavesItsServersToTheOthersUntilThereIsSpace() throws Exception {
    Requirements.root();
    int full = 3;
    nodes = Nodes.with(folder, 3, config);
    nodes.stop(full);
    nodes.deleteState(full);
    disk = Files.createDirectories(nodes.stateFolder(full));
    run("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "mcp-bridge-test", disk.toString());
    nodes.start(full);
    nodes.awaitMembers();
    nodes.awaitPreferredOwners(SERVERS);

    fill(disk.resolve("filler"));
    try (Load load = new Load(nodes, SERVERS, 10, () -> 1 + turn.incrementAndGet() % 2)) {
      nodes.until(() -> !nodes.state(full).equals("member"));
      nodes.until(() -> nodes.owner(1, "a") != full && nodes.owner(1, "b") != full);
      load.awaitMore(100);
      effectLog.assertConsistent(load, "full disk");
    }
    assertTrue(nodes.stderr(full).contains(disk + " is full"), nodes.stderr(full));

    Files.delete(disk.resolve("filler"));
    nodes.awaitMembers();
    nodes.assertAllAnswer(SERVERS);
  }

  private static void fill(Path file) throws IOException {
    byte[] block = new byte[4096];
    try (var out = Files.newOutputStream(file)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      assertTrue(e.getMessage().contains("No space left"), e.getMessage());
    }
  }
}
