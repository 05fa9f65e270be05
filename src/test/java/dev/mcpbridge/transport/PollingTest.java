package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PollingTest {
  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger looks = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  @Test
  void looksAgainUntilItIsSoHoweverOftenThatIs() throws Exception {
    EventLoops.await(
        vertx, () -> Polling.so(vertx, 1, () -> looks.incrementAndGet() > 2_000, () -> null));

    assertEquals(2_001, looks.get());
  }

  @Test
  void whatIsHopelessIsNotWaitedFor() {
    assertHopeless(() -> false, () -> looks.incrementAndGet() > 3);

    assertTrue(looks.get() > 3);
  }

  @Test
  void whatBecomesTrueAndHopelessAtOnceIsHopeless() {
    AtomicBoolean over = new AtomicBoolean();
    vertx.setTimer(20, t -> over.set(true));

    assertHopeless(over::get, over::get);
  }

  private void assertHopeless(BooleanSupplier isSo, BooleanSupplier isHopeless) {
    Supplier<Throwable> why = () -> isHopeless.getAsBoolean() ? new IllegalStateException() : null;

    assertThrows(
        IllegalStateException.class,
        () -> EventLoops.await(vertx, () -> Polling.so(vertx, 1, isSo, why)));
  }
}
