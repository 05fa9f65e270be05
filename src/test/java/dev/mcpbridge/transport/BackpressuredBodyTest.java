package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientResponse;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Back-pressure on response bodies. */
class BackpressuredBodyTest {
  private static final long LARGE = MemoryBudget.LARGE;

  private final Vertx vertx = Vertx.vertx();
  private final MemoryBudget memory = new MemoryBudget(2 * LARGE);
  private final AtomicInteger pauses = new AtomicInteger();
  private final AtomicInteger resumptions = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private BackpressuredBody body(long patienceMillis) {
    HttpClientResponse response =
        Stubs.of(
            HttpClientResponse.class,
            (method, arguments) -> {
              (method.equals("pause") ? pauses : resumptions).incrementAndGet();
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

  private void awaitResumptions(int times) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (resumptions.get() < times) {
      assertTrue(System.nanoTime() < end, "the response was not resumed in time");
      Thread.onSpinWait();
    }
  }

  @Test
  void resumesWhenThereIsRoom() throws Exception {
    memory.addUnread(2 * LARGE);
    BackpressuredBody backpressuredBody = body(60_000);

    runOnLoop(() -> backpressuredBody.onBuffered(LARGE));
    assertEquals(1, pauses.get());
    memory.removeUnread(2 * LARGE);

    awaitResumptions(1);
    assertEquals(LARGE, memory.held());
  }

  @Test
  void afterTheMaximumWaitOnlyTheNextMessageWaitsAgain() throws Exception {
    memory.addUnread(2 * LARGE);
    BackpressuredBody backpressuredBody = body(50);

    runOnLoop(() -> backpressuredBody.onBuffered(LARGE));
    awaitResumptions(1);
    runOnLoop(
        () -> {
          backpressuredBody.onBuffered(LARGE + 1);
          backpressuredBody.onBuffered(LARGE + 2);
          backpressuredBody.onBuffered(0);
          assertEquals(1, pauses.get());
          backpressuredBody.onBuffered(LARGE);
        });

    assertEquals(2, pauses.get());
    awaitResumptions(2);
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
