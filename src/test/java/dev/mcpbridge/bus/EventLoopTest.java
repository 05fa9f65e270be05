package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.bus.EventLoop.Deployment;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Verticles on one event loop of a Vert.x with several. */
class EventLoopTest {
  private static final String ADDRESS = "greetings";

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(4));
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final AtomicInteger ticks = new AtomicInteger();
  private final AtomicInteger greetings = new AtomicInteger();

  /** Opens what has to end with it. */
  private final class Greeter extends VerticleBase {
    private final boolean fails;

    Greeter(boolean fails) {
      this.fails = fails;
    }

    @Override
    public Future<?> start() {
      threads.add(Thread.currentThread());
      vertx.setPeriodic(1, t -> ticks.incrementAndGet());
      vertx.eventBus().localConsumer(ADDRESS, message -> greetings.incrementAndGet());
      return fails
          ? Future.failedFuture(new IllegalStateException("no"))
          : Future.succeededFuture();
    }
  }

  @AfterEach
  void close() throws TimeoutException {
    get(vertx.close());
  }

  @Test
  void allVerticlesRunOnOneThread() throws TimeoutException {
    EventLoop loop = EventLoop.of(vertx);
    for (int i = 0; i < 8; i++) {
      get(get(loop.deploy(new Greeter(false))).undeploy());
    }

    assertEquals(1, threads.size());
    assertSame(threads.iterator().next(), get(loop.call(() -> Future.succeededFuture(thread()))));
  }

  private static Thread thread() {
    return Thread.currentThread();
  }

  @Test
  void timersAndConsumersEndWithTheirVerticle() throws TimeoutException {
    EventLoop loop = EventLoop.of(vertx);
    Deployment deployed = get(loop.deploy(new Greeter(false)));

    get(deployed.undeploy());

    assertNothingRuns(loop);
  }

  @Test
  void verticleThatFailsToStartLeavesNothing() {
    EventLoop loop = EventLoop.of(vertx);

    assertThrows(IllegalStateException.class, () -> get(loop.deploy(new Greeter(true))));

    assertNothingRuns(loop);
  }

  @Test
  void whatIsOpenedBesideTheVerticlesEndsWithTheLoop() throws TimeoutException {
    EventLoop loop = EventLoop.withOwnWorkers(vertx);
    get(
        loop.blocking(
            () -> {
              vertx.setPeriodic(1, t -> ticks.incrementAndGet());
              return vertx.eventBus().localConsumer(ADDRESS, m -> greetings.incrementAndGet());
            }));

    get(loop.close());

    assertNothingRuns(EventLoop.of(vertx));
  }

  /** What would still be scheduled comes before the next turn of a timer of the same loop. */
  private void assertNothingRuns(EventLoop loop) {
    try {
      int before = ticks.get();
      vertx.eventBus().publish(ADDRESS, "hello");
      get(loop.call(() -> vertx.timer(30, TimeUnit.MILLISECONDS)));
      assertEquals(before, ticks.get());
      assertEquals(0, greetings.get());
    } catch (TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void callerWithoutAContextGoesOnInOneThatIsNotTheBridges() throws TimeoutException {
    EventLoop loop = EventLoop.of(vertx);
    Promise<Object> inside = Promise.promise();
    Promise<Object> after = Promise.promise();

    loop.call(
            () -> {
              inside.complete(Vertx.currentContext());
              return Future.succeededFuture();
            })
        .onSuccess(done -> after.complete(Vertx.currentContext()));

    assertNotSame(get(inside.future()), get(after.future()));
  }

  private static <T> T get(Future<T> future) throws TimeoutException {
    return future.await(10, TimeUnit.SECONDS);
  }
}
