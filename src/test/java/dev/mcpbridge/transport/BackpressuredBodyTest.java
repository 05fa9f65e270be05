package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.junit5.VertxExtension;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Back-pressure on response bodies. */
@ExtendWith(VertxExtension.class)
class BackpressuredBodyTest {
  private static final long LARGE = MemoryBudget.LARGE;

  private final MemoryBudget memory = new MemoryBudget(2 * LARGE);
  private final AtomicInteger pauses = new AtomicInteger();
  private final Semaphore resumptions = new Semaphore(0);
  private Vertx vertx;

  @BeforeEach
  void use(Vertx vertx) {
    this.vertx = vertx;
  }

  private BackpressuredBody body(long patienceMillis) {
    HttpClientResponse response =
        Stubs.of(
            HttpClientResponse.class,
            (method, arguments) -> {
              if (method.equals("pause")) {
                pauses.incrementAndGet();
              } else {
                resumptions.release();
              }
              return null;
            });
    return new BackpressuredBody(
        vertx, response, memory, TimeUnit.MILLISECONDS.toNanos(patienceMillis));
  }

  private void runOnLoop(Runnable task) throws Exception {
    EventLoops.await(
        vertx,
        () -> {
          task.run();
          return Future.succeededFuture();
        });
  }

  private void awaitResumption() throws Exception {
    assertTrue(
        resumptions.tryAcquire(20, TimeUnit.SECONDS), "the response was not resumed in time");
  }

  @Test
  void resumesWhenThereIsRoom() throws Exception {
    memory.addUnread(2 * LARGE);
    BackpressuredBody backpressuredBody = body(60_000);

    runOnLoop(() -> backpressuredBody.onBuffered(LARGE));
    assertEquals(1, pauses.get());
    memory.removeUnread(2 * LARGE);

    awaitResumption();
    assertEquals(LARGE, memory.held());
  }

  @Test
  void afterTheMaximumWaitOnlyTheNextMessageWaitsAgain() throws Exception {
    memory.addUnread(2 * LARGE);
    BackpressuredBody backpressuredBody = body(50);

    runOnLoop(() -> backpressuredBody.onBuffered(LARGE));
    awaitResumption();
    runOnLoop(
        () -> {
          backpressuredBody.onBuffered(LARGE + 1);
          backpressuredBody.onBuffered(LARGE + 2);
          backpressuredBody.onBuffered(0);
          assertEquals(1, pauses.get());
          backpressuredBody.onBuffered(LARGE);
        });

    assertEquals(2, pauses.get());
    awaitResumption();
  }

  @Test
  void aBodyCancelledWhileWaitingHoldsNoMemory() throws Exception {
    memory.addUnread(2 * LARGE);
    BackpressuredBody backpressuredBody = body(50);

    runOnLoop(
        () -> {
          backpressuredBody.onBuffered(LARGE);
          backpressuredBody.end();
          backpressuredBody.onBuffered(LARGE);
        });
    memory.removeUnread(2 * LARGE);

    assertEquals(0, memory.held());
  }
}
