package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.RejectedNode;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes with certificates of one authority, and peers without such a certificate. */
@Tag("cluster")
@Tag("slow")
class ClusterTlsIT {
  private static final List<String> SERVERS = List.of("one", "two", "three");
  private static final String NAMES = "ip:127.0.0.1";

  @TempDir static Path folder;
  private static Authority authority;
  private static Authority otherAuthority;
  @AutoClose private static Nodes nodes;

  @BeforeAll
  static void start() throws Exception {
    authority = Authority.create(folder.resolve("authority"));
    otherAuthority = Authority.create(folder.resolve("other authority"));
    String tls = tls(authority.certificateFiles("own", NAMES));
    nodes = Nodes.secured(folder, 3, tls, Nodes.placed(folder, SERVERS));
    nodes.awaitReady(SERVERS);
  }

  private static String tls(Path files) {
    return "{'cert':'%s','key':'%s','ca':'%s'}"
        .formatted(
            files.resolve("cert.pem"), files.resolve("key.pem"), authority.certificateFile());
  }

  @Test
  void callsProgressAndLargeResultsPassOverTls() throws Exception {
    startMissing();
    nodes.assertAllAnswer(SERVERS);
    Answer progress =
        nodes.call(1, "two", "progress", "{\"steps\":3}", "accept", "text/event-stream");
    assertEquals(List.of("progress", "progress", "progress", "result"), progress.events());
    for (int node = 1; node <= 3; node++) {
      Answer large = nodes.call(node, "two", "big", "{\"size\":" + (10 << 20) + "}");
      assertEquals(10 << 20, large.firstText().length(), large.toString());
    }
  }

  private static void startMissing() throws Exception {
    nodes.startMissing();
    nodes.awaitReady(SERVERS);
  }

  /** Node 1 connects to the others; node 3 accepts their connections. */
  @ParameterizedTest
  @CsvSource({
    "other authority, 1, Path does not chain, Received fatal alert",
    "other authority, 3, Path does not chain, Received fatal alert",
    "expired, 1, NotAfter, Received fatal alert",
    "expired, 3, NotAfter, Received fatal alert",
    "other secret, 1, cluster.secret, cluster.secret",
    "other secret, 3, cluster.secret, cluster.secret"
  })
  void foreignNodeIsRejectedAndBothSidesLogWhy(
      String what, int place, String loggedByMembers, String loggedByStranger) throws Exception {
    startMissing();
    nodes.stop(place);
    nodes.awaitMembers();
    try (RejectedNode rejectedNode = new RejectedNode(nodes, place, stranger(what, place))) {
      rejectedNode.assertRefused(loggedByMembers, loggedByStranger);
    }
  }

  private static String stranger(String what, int place) throws Exception {
    String own = nodes.config(place);
    String files = authority.certificateFiles("own", NAMES).toString();
    return switch (what) {
      case "other authority" ->
          own.replace(files, otherAuthority.certificateFiles("own", NAMES).toString());
      case "expired" ->
          own.replace(
              files,
              authority
                  .certificateFiles("expired", NAMES, "-startdate", "-10d", "-validity", "1")
                  .toString());
      default -> nodes.config(place, "test", "another secret of the tests", nodes.members());
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"no certificate", "no TLS"})
  void invalidClientIsDisconnected(String what) throws Exception {
    startMissing();
    byte[] noise = new byte[1 << 16];
    new Random(1).nextBytes(noise);
    try (Socket socket = connect(what)) {
      socket.setSoTimeout(30_000);
      assertTrue(isDisconnected(socket, noise), "the connection is still open");
    }
    nodes.assertAllAnswer(SERVERS);
  }

  private static Socket connect(String what) throws Exception {
    int port = nodes.port(2);
    return what.equals("no TLS")
        ? new Socket("127.0.0.1", port)
        : authority.client(false).getSocketFactory().createSocket("127.0.0.1", port);
  }

  private static boolean isDisconnected(Socket socket, byte[] noise) {
    try {
      socket.getOutputStream().write(noise);
      return socket.getInputStream().readAllBytes().length < 1000;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
