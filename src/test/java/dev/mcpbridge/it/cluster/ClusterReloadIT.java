package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Nodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reload of configuration files in a cluster. */
@Tag("cluster")
@Tag("slow")
class ClusterReloadIT {
  @TempDir static Path folder;
  @AutoClose private static Nodes nodes;
  private static int tests;

  @BeforeAll
  static void start() throws Exception {
    nodes = Nodes.sharing(folder, 3, servers("old"));
  }

  @BeforeEach
  void allHaveTheOldServer() throws Exception {
    nodes.startMissing();
    // A file that is written again without a change is not a newer one.
    String newest = "own" + ++tests;
    nodes.write(1, servers("old", newest));
    for (int node = 1; node <= 3; node++) {
      awaitKnown(node, newest);
      awaitUnknown(node, "new");
    }
    nodes.awaitReady(List.of("old"));
  }

  private static String servers(String... names) {
    return "'mcpServers':{"
        + String.join(
            ",", Stream.of(names).map(name -> "'" + name + "':" + Nodes.entry(folder, "")).toList())
        + "}";
  }

  private static void awaitKnown(int node, String server) throws Exception {
    nodes.until(() -> nodes.call(node, server, "echo", "{}").status() == 200);
  }

  private static void awaitUnknown(int node, String server) throws Exception {
    nodes.until(() -> nodes.call(node, server, "echo", "{}").status() == 404);
  }

  @Test
  void changedFileOfOneNodeIsAppliedByAll() throws Exception {
    nodes.write(2, servers("new"));

    for (int node = 1; node <= 3; node++) {
      awaitKnown(node, "new");
      awaitUnknown(node, "old");
    }
    nodes.write(3, servers("new", "more"));
    for (int node = 1; node <= 3; node++) {
      awaitKnown(node, "more");
    }
    nodes.stop(nodes.owner(1, "more"));
    for (int node : nodes.up()) {
      awaitKnown(node, "more");
    }
  }

  @Test
  void nodeStartedWithAnOldFileAppliesTheNewest() throws Exception {
    nodes.stop(3);
    nodes.write(1, servers("new"));
    awaitKnown(2, "new");

    nodes.start(3);
    nodes.awaitMembers();

    awaitKnown(3, "new");
    awaitUnknown(3, "old");
    awaitUnknown(1, "old");
  }

  @Test
  void newerFileOfAStartingNodeIsAppliedByAll() throws Exception {
    nodes.write(1, servers("new"));
    awaitKnown(2, "new");
    nodes.stop(3);
    nodes.write(3, servers("newest"));
    Files.setLastModifiedTime(nodes.file(3), FileTime.from(Instant.now()));

    nodes.start(3);

    for (int node = 1; node <= 3; node++) {
      awaitKnown(node, "newest");
      awaitUnknown(node, "new");
    }
  }

  @Test
  void invalidFileIsAppliedByNoNode() throws Exception {
    nodes.write(1, "'mcpServers':{'old':{'command':7}}");

    nodes.until(() -> nodes.stderr(1).contains("is invalid and was not applied"));
    TimeUnit.SECONDS.sleep(3); // the others poll every second; they must not apply it
    for (int node = 1; node <= 3; node++) {
      awaitKnown(node, "old");
    }
    nodes.write(1, servers("old", "new"));
    awaitKnown(3, "new");
  }

  @Test
  void sharedFileUsesTheEnvironmentOfEachNode() throws Exception {
    for (int node = 1; node <= 3; node++) {
      nodes.stop(node);
      nodes.setEnvironment(node, Map.of("PLACE", "at" + node));
      nodes.start(node);
      nodes.awaitMembers();
    }
    String own = Files.readString(nodes.file(3));

    nodes.write(
        1,
        "'mcpServers':{'new':%s}"
            .formatted(Nodes.entry(folder, "'env':{'GIVEN':'${env:PLACE}'},'placement':['n3']")));

    awaitKnown(2, "new");
    String environment = nodes.call(2, "new", "env", "{}").text();
    assertTrue(environment.contains("\"GIVEN=at3\""), environment);
    assertEquals(own, Files.readString(nodes.file(3)));
  }

  @Test
  void fileConcernsOnlyItsNodeByDefault(@TempDir Path other) throws Exception {
    try (Nodes three = Nodes.with(other, 3, servers("old"))) {
      three.awaitReady(List.of("old"));

      three.write(2, servers("old", "new"));

      three.until(() -> three.call(1, "new", "echo", "{}").status() == 200);
      assertEquals(2, three.owner(1, "new"));
      assertTrue(three.get(3, "/servers/new").text().contains("\"node\":\"n2\""));
    }
  }
}
