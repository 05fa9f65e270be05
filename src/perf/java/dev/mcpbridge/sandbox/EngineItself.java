package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.Contained;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the engine can do: containers of a profile created, started and removed, several at once.
 */
public final class EngineItself {
  private EngineItself() {}

  /** So many a second. */
  public static double perSecond(Contained container, String address, int atOnce, double seconds)
      throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      Engine engine = new Engine(vertx, address, Labels.own());
      Engine.Image image = engine.image(container.image()).await(30, TimeUnit.SECONDS);
      AtomicLong done = new AtomicLong();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      Future<?>[] chains = new Future<?>[atOnce];
      for (int i = 0; i < atOnce; i++) {
        chains[i] = again(engine, container, image, end, done);
      }
      for (Future<?> chain : chains) {
        chain.await((long) seconds + 60, TimeUnit.SECONDS);
      }
      return done.get() * 1e9 / (System.nanoTime() - begin);
    } finally {
      vertx.close().await(10, TimeUnit.SECONDS);
    }
  }

  private static Future<Void> again(
      Engine engine, Contained container, Engine.Image image, long end, AtomicLong done) {
    if (System.nanoTime() > end) {
      return Future.succeededFuture();
    }
    return engine
        .create(container, image, "bench")
        .compose(id -> engine.start(id).compose(started -> engine.remove(id)))
        .compose(
            gone -> {
              done.incrementAndGet();
              return again(engine, container, image, end, done);
            });
  }
}
