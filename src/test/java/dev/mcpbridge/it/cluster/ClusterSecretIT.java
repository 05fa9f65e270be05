package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.peer.Impostor;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.RejectedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes of one user without a configured secret, and other users on the same machine. */
@Tag("cluster")
class ClusterSecretIT {
  private static final List<String> SERVERS = List.of("one", "two", "three");
  private static final String CALL = "server.three.call";

  @TempDir static Path folder;
  private static Path state;
  @AutoClose private static Nodes nodes;

  /** Starts all nodes concurrently, before a secret exists. */
  @BeforeAll
  static void start() throws Exception {
    state = folder.resolve("state");
    nodes = Nodes.ofOneUser(folder, state, 3, Nodes.placed(folder, SERVERS));
    nodes.awaitReady(SERVERS);
  }

  private static Path file() {
    return state.resolve("mcp-bridge").resolve("cluster").resolve("test.secret");
  }

  @Test
  void nodesOfOneUserShareASecretFile() throws Exception {
    nodes.assertAllAnswer(SERVERS);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
    for (int node = 1; node <= 3; node++) {
      assertTrue(nodes.stderr(node).contains(file().toString()), nodes.stderr(node));
      assertFalse(
          nodes.stderr(node).contains(Files.readString(file())), "the secret is in the log");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "mcp-bridge", "a secret of the tests"})
  void clientWithoutTheSecretGetsNoAnswer(String guess) throws Exception {
    assertFalse(isAnswered(guess, CALL));
    assertFalse(isAnswered(guess, "nothing is here"));
    assertTrue(nodes.areMembers(List.of(1, 2, 3)));
  }

  @Test
  void clientWithTheSecretIsAccepted() throws Exception {
    assertTrue(isAnswered(Files.readString(file()), "nothing is here"));
    nodes.awaitMembers();
    nodes.awaitReady(SERVERS);
  }

  private static boolean isAnswered(String secret, String address) throws Exception {
    return Impostor.isAnswered("test", nodes.members(), secret, address, new byte[] {1, 2, 3});
  }

  @Test
  void nodeOfAnotherUserIsRejectedAndBothSidesLogWhy() throws Exception {
    nodes.stop(3);
    nodes.awaitMembers();
    nodes.setEnvironment(3, Map.of("XDG_STATE_HOME", folder.resolve("another").toString()));
    try (RejectedNode rejectedNode = new RejectedNode(nodes, 3, nodes.config(3))) {
      rejectedNode.assertRefused("cluster.secret", "cluster.secret");
    } finally {
      nodes.setEnvironment(3, Map.of("XDG_STATE_HOME", state.toString()));
      nodes.startMissing();
      nodes.awaitReady(SERVERS);
    }
  }

  @Test
  void nodeDoesNotStartIfOthersCanReadTheSecret() throws Exception {
    Path others = Files.createDirectories(folder.resolve("open/mcp-bridge/cluster"));
    Files.setPosixFilePermissions(others, PosixFilePermissions.fromString("rwx------"));
    Path open = Files.writeString(others.resolve("test.secret"), "a secret of the tests");
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    ProcessBuilder program = nodes.program(3, nodes.config(3));
    program.environment().put("XDG_STATE_HOME", folder.resolve("open").toString());
    Path err = folder.resolve("open.err");

    Process node =
        program.redirectError(err.toFile()).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try {
      assertTrue(node.waitFor(60, TimeUnit.SECONDS), "it goes on");
      assertEquals(1, node.exitValue());
      String log = Files.readString(err);
      assertTrue(log.contains("cannot start: "), log);
      assertTrue(log.contains(open.toString()), log);
      assertTrue(log.contains("rw-r--r--"), log);
    } finally {
      node.destroyForcibly();
    }
  }
}
