package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Callers;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.History;
import dev.mcpbridge.fixture.HistoryCheck;
import dev.mcpbridge.fixture.LongForm;
import dev.mcpbridge.fixture.Nemesis;
import dev.mcpbridge.fixture.Network;
import dev.mcpbridge.fixture.Nodes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mixed load while nodes fail at random: no call runs twice, and all responses are correct. */
@Tag("cluster")
@Tag("slow")
@Tag("alone")
class ClusterNemesisIT {
  private static final List<String> SINGLE = List.of("a", "b");
  private static final List<String> SPREAD = List.of("c", "d");
  private static final List<String> PLAIN =
      Stream.of(SINGLE, SPREAD).flatMap(List::stream).toList();
  private static final List<String> GATED = List.of("x", "y");
  private static final List<String> ALL = Stream.of(PLAIN, GATED).flatMap(List::stream).toList();
  private static final int CALLERS = 12;

  @TempDir Path folder;
  private EffectLog effectLog;
  private Network network;

  @AutoClose("stopAll")
  private Nodes nodes;

  @BeforeEach
  void start() throws Exception {
    effectLog = new EffectLog(folder);
    network = new Network(3);
    String servers =
        String.join(
            ",",
            effectLog.servers(SINGLE),
            effectLog.servers(SPREAD, "'instances':3"),
            effectLog.servers(GATED, "'riskLevel':2"));
    nodes = Nodes.on(network, folder, 3, "'mcpServers':{" + servers + "}");
    nodes.awaitReady(ALL);
  }

  /** Duration and seed are set by system properties. */
  @Test
  void responsesMatchTheEffectsUnderRandomFaults() throws Exception {
    long seed = Long.getLong("nemesis.seed", System.nanoTime() % 1_000_000);
    int seconds = Integer.getInteger("nemesis.seconds", LongForm.times(45, 300));
    Path file = Path.of("target", "nemesis-" + seed + ".history");
    System.err.println("nemesis.seed=" + seed + " nemesis.seconds=" + seconds + " " + file);
    try (History history = new History(file)) {
      Nemesis nemesis = new Nemesis(nodes, network, history, new Random(seed));
      try (Callers callers = new Callers(nodes, PLAIN, GATED, history, nemesis::openNodes)) {
        callers.start(CALLERS, seed);

        nemesis.run(Duration.ofSeconds(seconds));

        nodes.awaitReady(ALL);
        nodes.assertAllAnswer(ALL);
        TimeUnit.SECONDS.sleep(2); // lets calls complete without faults
        callers.stop();
      } finally {
        System.err.println(history.summary());
      }
      List<String> violations =
          HistoryCheck.check(
              history.operations(), history.faults(), effectLog.effects(), Map.of("c", 3, "d", 3));
      System.err.println(violations.size() + " violations, seed " + seed);
      violations.forEach(history::write);
      assertEquals("", String.join("\n", violations), "seed " + seed);
      assertCallsSucceeded(history);
    }
  }

  /** A history that contains only failures would prove nothing. */
  private static void assertCallsSucceeded(History history) {
    assertFalse(history.faults().isEmpty());
    for (History.Kind kind : History.Kind.values()) {
      assertTrue(
          history.operations().stream()
              .filter(each -> each.kind() == kind)
              .anyMatch(each -> List.of(200, 202).contains(each.outcome().status())),
          "never answered: " + kind);
    }
  }
}
