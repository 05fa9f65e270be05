package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Requirements;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Detection of the process at the other end of a connection. */
@EnabledOnOs(OS.LINUX)
class OwnSocketsIT {
  private ServerSocket listener;

  @BeforeEach
  void listen() throws Exception {
    listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() throws Exception {
    listener.close();
  }

  private boolean isOwn(Socket accepted) {
    return OwnSockets.isOwn(
        (InetSocketAddress) accepted.getRemoteSocketAddress(),
        (InetSocketAddress) accepted.getLocalSocketAddress());
  }

  @Test
  void aChildsSocketIsOwnAndAStrangersIsNot() throws Exception {
    String address = "/dev/tcp/127.0.0.1/" + listener.getLocalPort();
    Process child =
        new ProcessBuilder(
                Requirements.program("bash"), "-c", "exec 3<>" + address + "; read -r -u 3")
            .start();
    try (Socket fromChild = listener.accept();
        Socket stranger = new Socket(listener.getInetAddress(), listener.getLocalPort());
        Socket fromStranger = listener.accept()) {
      assertTrue(isOwn(fromChild));
      assertFalse(isOwn(fromStranger));
      assertEquals(listener.getLocalPort(), stranger.getPort());
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  @Test
  void aDisconnectedClientCountsAsOwn() throws Exception {
    for (boolean abruptly : new boolean[] {false, true}) {
      Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
      try (Socket accepted = listener.accept()) {
        if (abruptly) {
          client.setSoLinger(true, 0);
        }
        client.close();

        assertTrue(isOwn(accepted));
      }
    }
  }
}
