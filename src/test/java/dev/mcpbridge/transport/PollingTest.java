package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class PollingTest {
  private final AtomicInteger checks = new AtomicInteger();
  private Vertx vertx;

  @BeforeEach
  void use(Vertx vertx) {
    this.vertx = vertx;
  }

  @Test
  void pollsUntilTheConditionIsTrue() throws Exception {
    EventLoops.await(
        vertx,
        () -> Polling.awaitCondition(vertx, 1, () -> checks.incrementAndGet() > 2_000, () -> null));

    assertEquals(2_001, checks.get());
  }

  @Test
  void failsWhenThereIsAReasonToAbort() {
    assertAborted(() -> false, () -> checks.incrementAndGet() > 3);

    assertTrue(checks.get() > 3);
  }

  @Test
  void theAbortReasonTakesPrecedence() {
    assertAborted(() -> checks.get() > 3, () -> checks.incrementAndGet() > 3);
  }

  private void assertAborted(BooleanSupplier condition, BooleanSupplier mustAbort) {
    Supplier<Throwable> abortReason =
        () -> mustAbort.getAsBoolean() ? new IllegalStateException() : null;

    assertThrows(
        IllegalStateException.class,
        () ->
            EventLoops.await(
                vertx, () -> Polling.awaitCondition(vertx, 1, condition, abortReason)));
  }
}
