package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Graceful shutdown of nodes whose servers take longer to stop than the lease time. */
@Tag("cluster")
class ClusterLeavingIT {

  /** Longer than four leases, and longer than the grace period of a node. */
  @ParameterizedTest
  @ValueSource(ints = {8_000, 12_000})
  void nodeLeavesAfterItsLastCallHasEnded(int millis, @TempDir Path folder) throws Exception {
    EffectLog effectLog = new EffectLog(folder);
    String config = "'drain':25,'mcpServers':{" + effectLog.servers(List.of("a")) + "}";
    try (Nodes nodes = Nodes.with(folder, 3, config)) {
      nodes.awaitReady(List.of("a"));
      int leaving = nodes.owner(1, "a");
      List<Integer> doors = nodes.others(leaving);
      CompletableFuture<Answer> running =
          nodes.callLater(
              doors.get(0), "a", "effect", "{\"ms\":" + millis + ",\"note\":\"a long\"}");
      nodes.until(() -> effectLog.count("long") == 1);

      nodes.stop(leaving);

      assertEquals("done", running.get(60, TimeUnit.SECONDS).firstText());
      nodes.awaitMembers();
      nodes.assertAllAnswer(List.of("a"));
      assertEquals(1, effectLog.count("long"));
      for (int door : doors) {
        String log = nodes.stderr(door);
        assertFalse(log.contains("node=n" + leaving + " declared lost"), log);
      }
    }
  }

  @Test
  void nodeStopsEvenIfAnotherNodeReadsNothing(@TempDir Path folder) throws Exception {
    String config = "'mcpServers':{" + new EffectLog(folder).servers(List.of("a")) + "}";
    try (Nodes nodes = Nodes.with(folder, 3, config)) {
      nodes.awaitReady(List.of("a"));
      int leaving = nodes.owner(1, "a");
      int paused = nodes.anyOther(leaving);
      List<CompletableFuture<Answer>> large =
          IntStream.range(0, 200)
              .mapToObj(i -> nodes.callLater(paused, "a", "big", "{\"size\":400000}"))
              .toList();
      large.get(0).get(60, TimeUnit.SECONDS);
      nodes.pause(paused);
      nodes.until(() -> nodes.stderr(leaving).contains("reason=nothing came for a while"));

      nodes.stop(leaving);

      nodes.resume(paused);
      nodes.awaitMembers();
      nodes.assertAllAnswer(List.of("a"));
    }
  }
}
