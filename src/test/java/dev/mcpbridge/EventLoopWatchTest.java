package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Logged;
import io.vertx.core.Vertx;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventLoopWatchTest {
  private static final int LOOK_MILLIS = 20;

  private final Vertx vertx = Bridge.vertx();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Logged log = new Logged();
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

  private void holdUp() {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void await(String regex) throws InterruptedException {
    Pattern told = Pattern.compile(regex);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (log.lines().stream().noneMatch(line -> told.matcher(line).find())) {
      assertTrue(System.nanoTime() < end, () -> regex + " was not said: " + log.lines());
      Thread.onSpinWait();
    }
  }
}
