package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.RejectedNode;
import dev.mcpbridge.fixture.ServedBridge;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes and clients that do not belong to the cluster are rejected without harming it. */
@Tag("cluster")
class ClusterRefusalsIT {
  private static final int FLOOD = 300;

  @TempDir static Path folder;
  @AutoClose private static Nodes nodes;

  /** Runs two of three configured nodes, so the third slot is free for a foreign node. */
  @BeforeAll
  static void start() throws Exception {
    nodes = Nodes.start(folder, 3, "'s':" + Nodes.entry(folder, "'placement':['n1']"));
    nodes.awaitReady(2, "s");
    nodes.stop(3);
    nodes.awaitMembers();
  }

  @AfterEach
  void membersStillServe() throws Exception {
    assertTrue(nodes.areMembers(List.of(1, 2)));
    assertEquals(200, nodes.call(2, "s", "echo", "{}").status());
  }

  @ParameterizedTest
  @CsvSource({"other,,cluster.name", "test,another secret of the tests,cluster.secret"})
  void nodeOfAnotherClusterIsRejectedWithReason(String name, String secret, String reason)
      throws Exception {
    String own = secret == null ? nodes.secret() : secret;
    assertRefused(nodes.config(3, name, own, nodes.members()), reason);
  }

  @Test
  void nodesWithDifferentMembersBeginNoCluster(@TempDir Path own) throws Exception {
    List<Integer> ports = FreePorts.findBlocks(2, 3);
    List<String> both = ports.stream().map(port -> "127.0.0.1:" + port).toList();
    List<String> more = Stream.concat(both.stream(), Stream.of("127.0.0.1:9")).toList();
    List<Process> started = new ArrayList<>();
    try {
      started.add(startNew(own, "first", ports.get(0), both));
      started.add(startNew(own, "second", ports.get(1), more));

      for (String name : List.of("first", "second")) {
        nodes.until(() -> Files.readString(own.resolve(name + ".err")).contains("cluster.members"));
      }

      for (String name : List.of("first", "second")) {
        assertFalse(Files.readString(own.resolve(name + ".err")).contains("lease acquired"));
      }
    } finally {
      started.forEach(Process::destroyForcibly);
    }
  }

  private static Process startNew(Path own, String name, int port, List<String> members)
      throws IOException {
    String config =
        "{\"http\":{\"port\":0},\"cluster\":{\"name\":\"%s\",\"members\":[\"%s\"],\"secret\":\"%s\","
            + "\"folder\":\"%s\"},\"mcpServers\":{}}";
    Path file =
        Files.writeString(
            own.resolve(name + ".json"),
            config.formatted(
                "different members",
                String.join("\",\"", members),
                nodes.secret(),
                own.resolve(name)));
    List<String> command =
        ServedBridge.command(
            "--config", file.toString(), "--cluster", "--cluster-port", Integer.toString(port));
    return new ProcessBuilder(command)
        .redirectError(own.resolve(name + ".err").toFile())
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static void assertRefused(String config, String reason) throws Exception {
    try (RejectedNode rejectedNode = new RejectedNode(nodes, 3, config)) {
      rejectedNode.assertRefused(reason, reason);
    }
  }

  @Test
  void nodeStartedTwiceReportsTheAddressInUse() throws Exception {
    Path err = folder.resolve("twice.err");
    Process twin =
        nodes
            .program(1, nodes.config(1))
            .redirectError(err.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertTrue(twin.waitFor(60, TimeUnit.SECONDS), "the node is still running");
      assertEquals(1, twin.exitValue());
      String log = Files.readString(err);
      assertTrue(log.contains("cannot start: "), log);
      assertTrue(log.contains("127.0.0.1:" + nodes.port(1)), log);
      assertTrue(log.contains("in use"), log);
    } finally {
      twin.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"noise", "http", "huge frame", "negative frame", "zeros", "silence"})
  void invalidClientIsDisconnected(String what) throws Exception {
    byte[] noise = new byte[1 << 20];
    switch (what) {
      case "noise" -> new Random(1).nextBytes(noise);
      case "http" -> noise = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes();
      case "huge frame" -> noise[0] = 0x7F;
      case "negative frame" -> noise[0] = -1;
      case "silence" -> noise = new byte[0];
      default -> {
        // zeros
      }
    }
    try (Socket socket = new Socket("127.0.0.1", nodes.port(1))) {
      socket.setSoTimeout(30_000);
      send(socket.getOutputStream(), noise);
      assertTrue(isDisconnected(socket.getInputStream()), "the connection is still open");
    }
  }

  private static void send(OutputStream out, byte[] bytes) {
    try {
      out.write(bytes);
      out.flush();
    } catch (IOException e) {
      // already disconnected
    }
  }

  /** Whether the connection is closed before it has received more than a greeting. */
  private static boolean isDisconnected(InputStream in) {
    try {
      return in.readAllBytes().length < 1000;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void floodOfConnectionsDoesNoHarm() throws Exception {
    List<Socket> flood = new ArrayList<>();
    try {
      for (int i = 0; i < FLOOD; i++) {
        Socket socket = new Socket("127.0.0.1", nodes.port(1 + i % 2));
        flood.add(socket);
        send(socket.getOutputStream(), new byte[] {0, 0, 0, 9, (byte) (i % 12), 1, 2, 3});
        if (i % 20 == 0) {
          assertEquals(200, nodes.call(2, "s", "echo", "{}").status());
          assertTrue(nodes.areMembers(List.of(1, 2)));
        }
      }
    } finally {
      for (Socket socket : flood) {
        socket.close();
      }
    }
  }

  @Test
  void forgedGreetingIsRejected() throws Exception {
    byte[] hello = new byte[400];
    System.arraycopy(new byte[] {0, 0, 1, (byte) 0x80, 0, 10}, 0, hello, 0, 6);
    System.arraycopy("mcp-bridge".getBytes(), 0, hello, 6, 10);
    try (Socket socket = new Socket("127.0.0.1", nodes.port(2))) {
      socket.setSoTimeout(30_000);
      send(socket.getOutputStream(), hello);
      assertTrue(isDisconnected(socket.getInputStream()), "the connection is still open");
    }
  }
}
