package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Baseline of the container engine: creates, starts and removes containers concurrently. */
public final class EngineBaseline {
  private EngineBaseline() {}

  /** Measures the containers per second with {@code atOnce} concurrent chains. */
  public static double perSecond(
      ContainerTarget container, String address, int atOnce, double seconds) throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      ContainerEngine containerEngine = new ContainerEngine(vertx, address, Labels.own());
      ContainerEngine.Image image =
          containerEngine.image(container.image()).await(30, TimeUnit.SECONDS);
      AtomicLong done = new AtomicLong();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      Future<?>[] chains = new Future<?>[atOnce];
      for (int i = 0; i < atOnce; i++) {
        chains[i] = repeat(containerEngine, container, image, end, done);
      }
      for (Future<?> chain : chains) {
        chain.await((long) seconds + 60, TimeUnit.SECONDS);
      }
      return done.get() * 1e9 / (System.nanoTime() - begin);
    } finally {
      vertx.close().await(10, TimeUnit.SECONDS);
    }
  }

  private static Future<Void> repeat(
      ContainerEngine containerEngine,
      ContainerTarget container,
      ContainerEngine.Image image,
      long end,
      AtomicLong done) {
    if (System.nanoTime() > end) {
      return Future.succeededFuture();
    }
    return containerEngine
        .create(container, image, "bench")
        .compose(id -> containerEngine.start(id).compose(started -> containerEngine.remove(id)))
        .compose(
            removed -> {
              done.incrementAndGet();
              return repeat(containerEngine, container, image, end, done);
            });
  }
}
