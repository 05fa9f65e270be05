package dev.mcpbridge.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.Contained;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.Loops;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Engines that do not answer. */
class ContainersTest {
  private Vertx vertx;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
  }

  @AfterEach
  void stop() throws Exception {
    vertx.close().await(40, TimeUnit.SECONDS);
  }

  private BridgeException startAt(String address, long patienceMillis) {
    Contained container =
        new Contained(
            "image",
            List.of(),
            Map.of(),
            List.of(),
            new Contained.Resources(64 << 20, 1, 100, Map.of()),
            "none",
            "65534:65534",
            null,
            patienceMillis);
    Containers containers = new Containers(vertx, new Engine(vertx, address, Labels.own()));
    StdioTransport.Limits limits = new StdioTransport.Limits(1 << 20, 100, 1 << 20);
    TransportListener nobody = Stubs.of(TransportListener.class, (method, arguments) -> null);
    return assertThrows(
        BridgeException.class,
        () -> Loops.await(vertx, () -> containers.start(container, "s", limits, nobody)));
  }

  @Test
  void anEngineThatHangsIsNotWaitedForLongerThanAStartMayTake() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      String address = "tcp://127.0.0.1:" + silent.getLocalPort();

      BridgeException failure = startAt(address, 200);

      assertEquals(ErrorCode.ISOLATION_UNAVAILABLE, failure.code());
      assertEquals(
          "The container engine at " + address + " has not answered within 200 ms",
          failure.getMessage());
    }
  }

  @Test
  void anEngineThatIsNotThereIsSaidToBeMissingAtOnce() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }

    BridgeException failure = startAt("tcp://127.0.0.1:" + port, 30_000);

    assertEquals(ErrorCode.ISOLATION_UNAVAILABLE, failure.code());
    assertTrue(failure.getMessage().startsWith("No container engine answers"), failure.toString());
  }
}
