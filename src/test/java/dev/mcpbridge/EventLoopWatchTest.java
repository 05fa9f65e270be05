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
  private static final int LOOK_MILLIS = 20;

  private final Vertx vertx = Bridge.vertx();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CapturedLog log = new CapturedLog();
  private final EventLoopWatch watch = EventLoopWatch.of(vertx, LOOK_MILLIS);

  @AfterEach
  void close() throws Exception {
    gate.countDown();
    watch.close();
    log.close();
    vertx.close().await(10, TimeUnit.SECONDS);
  }

  @Test
  void aLoopThatIsHeldUpIsToldOfWithThePlaceAndAgainWhenItGoesOn() throws Exception {
    vertx.runOnContext(v -> holdUp());
    await("has not come round for 40 ms: .*holdUp\\(");
    gate.countDown();

    await("goes on after [0-9]+ ms");
  }

  @Test
  void aBridgeThatEndsOrCannotBeginTakesItsWatchWithIt() throws Exception {
    Set<Thread> before = watches();

    try (TestBridge bridge = TestBridge.of("{}")) {
      assertFalse(before.containsAll(watches()));
      assertThrows(Exception.class, () -> TestBridge.at(bridge.port(), "{}"));
    }

    until(() -> before.containsAll(watches()), "a watch was left behind");
  }

  private static Set<Thread> watches() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("mcp-loop-watch"))
        .collect(Collectors.toSet());
  }

  private void holdUp() {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void await(String regex) {
    Pattern told = Pattern.compile(regex);
    until(
        () -> log.lines().stream().anyMatch(line -> told.matcher(line).find()),
        regex + " was not said");
  }

  private static void until(BooleanSupplier isSo, String complaint) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, complaint);
      Thread.onSpinWait();
    }
  }
}
