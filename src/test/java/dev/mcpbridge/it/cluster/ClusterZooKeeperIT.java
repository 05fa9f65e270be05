package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Approvals;
import dev.mcpbridge.fixture.Approvals.PendingConfirmation;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster on a ZooKeeper server that the operator runs. */
@Tag("cluster")
@Tag("slow")
class ClusterZooKeeperIT {
  private static final List<String> SERVERS = List.of("a", "b", "c");

  @Test
  void clusterUsesTheServersOfTheOperator(@TempDir Path folder, @TempDir Path data)
      throws Exception {
    EffectLog effectLog = new EffectLog(folder);
    int port = FreePorts.find(1).get(0);
    Process zookeeper = start(data, port);
    try (Nodes nodes =
        Nodes.outside(
            folder,
            3,
            "127.0.0.1:" + port,
            effectLog.servers(SERVERS) + "," + effectLog.gatedServer("g"))) {
      nodes.awaitReady(SERVERS);
      nodes.assertAllAnswer(SERVERS);
      Approvals approvals = new Approvals(nodes, "g");
      PendingConfirmation pending = approvals.request(1, 1);
      int dead = nodes.owner(1, "a");

      nodes.kill(dead);
      nodes.awaitMembers();
      nodes.assertAllAnswer(SERVERS);
      zookeeper.destroyForcibly().waitFor();
      int left = nodes.up().get(0);
      nodes.until(() -> nodes.call(left, "a", "echo", "{}").code().equals("no_quorum"));
      zookeeper = start(data, port);
      nodes.startMissing();

      nodes.assertAllAnswer(SERVERS);
      assertEquals("done", approvals.decide(2, pending, true).firstText());
      assertEquals(1, effectLog.count(pending.note()));
      Answer refused = nodes.send(1, "PUT", "/cluster/voters/n2");
      assertEquals("409 voters_unchanged", refused.status() + " " + refused.code());
      assertNothingIsReadable(data, pending.note());
      nodes.stopAll();
    } finally {
      zookeeper.destroyForcibly();
    }
  }

  /** What is written there is encrypted. */
  private static void assertNothingIsReadable(Path data, String note) throws Exception {
    assertFalse(note.isEmpty());
    boolean hasLog = false;
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        assertFalse(text.contains(note), file.toString());
        assertFalse(text.contains("arguments"), file.toString());
        hasLog |= text.contains("/mcp-bridge/test/data/maps/confirmations");
      }
    }
    assertTrue(hasLog, "the log has no confirmations");
  }

  private static Process start(Path data, int port) throws Exception {
    Process process =
        new ProcessBuilder(
                TestBridge.java(),
                "-Dzookeeper.admin.enableServer=false",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                "org.apache.zookeeper.server.ZooKeeperServerMain",
                Integer.toString(port),
                data.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    return process;
  }
}
