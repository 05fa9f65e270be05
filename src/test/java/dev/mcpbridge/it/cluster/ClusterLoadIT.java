package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Load;
import dev.mcpbridge.fixture.Load.CompletedCall;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.SteadyLoad;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that is killed while 500 calls a second arrive at all. */
@Tag("cluster")
@Tag("slow")
@Tag("alone")
class ClusterLoadIT {
  private static final List<String> SERVERS = List.of("a", "b", "c", "d");

  @Test
  void killedOwnerLosesOnlyItsOwnCallsUnderLoad(@TempDir Path folder) throws Exception {
    EffectLog effectLog = new EffectLog(folder);
    try (Nodes nodes = Nodes.start(folder, 3, effectLog.servers(SERVERS))) {
      nodes.awaitPreferredOwners(SERVERS);
      int dead = nodes.owner(1, "a");
      List<String> moved = new ArrayList<>();
      for (String server : SERVERS) {
        if (nodes.owner(1, server) == dead) {
          moved.add(server);
        }
      }
      List<Integer> doors = new CopyOnWriteArrayList<>(List.of(1, 2, 3));
      AtomicInteger turn = new AtomicInteger();
      try (SteadyLoad steadyLoad =
          new SteadyLoad(
              nodes, SERVERS, 500, () -> doors.get(turn.incrementAndGet() % doors.size()))) {
        steadyLoad.awaitMore(1_500);
        nodes.kill(dead);
        doors.remove((Integer) dead);
        for (int i = 0; i < 4; i++) {
          steadyLoad.awaitMore(1_000);
        }

        List<CompletedCall> made = steadyLoad.end();
        System.err.println("500 a second: " + Load.outcomes(made));
        effectLog.assertConsistent(made);
        for (CompletedCall call : made) {
          boolean mayBeLost =
              call.node() == dead && call.answer() == null
                  || moved.contains(call.server()) && call.outcome().startsWith("502 node_lost");
          assertTrue(call.isDone() || mayBeLost, call.server() + " " + call.answer());
        }
      }
      nodes.assertAllAnswer(SERVERS);
      nodes.stopAll();
    }
  }
}
