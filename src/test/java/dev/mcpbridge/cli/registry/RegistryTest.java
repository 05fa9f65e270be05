package dev.mcpbridge.cli.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryTest {
  private final CountDownLatch end = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private HttpServer server;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.start();
  }

  @AfterEach
  void stop() {
    end.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{\"servers\": ["})
  void aRegistryThatNeverEndsItsAnswerIsNotWaitedForLonger(String beginning) {
    server.createContext(
        "/",
        exchange -> {
          if (!beginning.isEmpty()) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(beginning.getBytes());
            exchange.getResponseBody().flush();
          }
          try {
            end.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    Registry registry =
        Registry.at("http://127.0.0.1:" + server.getAddress().getPort(), Duration.ofMillis(1_500));

    BridgeException failure = assertThrows(BridgeException.class, () -> registry.search("x", 1));

    assertEquals(ErrorCode.UPSTREAM_ERROR, failure.code());
    assertTrue(failure.getMessage().contains("did not answer within 1500 ms"));
  }
}
