package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.Vertx;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventLoopWatchTest {
  private static final int INTERVAL_MILLIS = 20;

  private final Vertx vertx = Bridge.vertx();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CapturedLog log = new CapturedLog();
  private final EventLoopWatch watch = EventLoopWatch.of(vertx, INTERVAL_MILLIS);

  @AfterEach
  void close() throws Exception {
    gate.countDown();
    watch.close();
    log.close();
    vertx.close().await(10, TimeUnit.SECONDS);
  }

  @Test
  void blockedEventLoopIsLoggedWithItsStackTrace() throws Exception {
    vertx.runOnContext(v -> block());
    await("has been blocked for 40 ms: .*block\\(");
    gate.countDown();

    await("runs again after [0-9]+ ms");
  }

  @Test
  void watchEndsWithItsBridgeAndWithAFailedStart() throws Exception {
    Set<Thread> before = watchThreads();

    try (TestBridge bridge = TestBridge.of("{}")) {
      assertFalse(before.containsAll(watchThreads()));
      assertThrows(Exception.class, () -> TestBridge.at(bridge.port(), "{}"));
    }

    until(() -> before.containsAll(watchThreads()), "a watch thread is still running");
  }

  private static Set<Thread> watchThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("mcp-loop-watch"))
        .collect(Collectors.toSet());
  }

  private void block() {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void await(String regex) {
    Pattern pattern = Pattern.compile(regex);
    until(
        () -> log.lines().stream().anyMatch(line -> pattern.matcher(line).find()),
        regex + " was not logged");
  }

  private static void until(BooleanSupplier condition, String message) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, message);
      Thread.onSpinWait();
    }
  }
}
