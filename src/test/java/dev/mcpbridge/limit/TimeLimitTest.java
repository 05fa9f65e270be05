package dev.mcpbridge.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class TimeLimitTest {

  @Test
  void waitEndsOnTheCallersThread(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    Thread loop = EventLoops.await(vertx, () -> Future.succeededFuture(Thread.currentThread()));

    Thread end =
        EventLoops.await(
            vertx,
            () ->
                TimeLimit.of(10, Promise.promise().future())
                    .transform(
                        over -> {
                          assertInstanceOf(TimeoutException.class, over.cause());
                          return Future.succeededFuture(Thread.currentThread());
                        }));

    assertSame(loop, end);
  }

  @Test
  void resultInTimeIsPassedOn(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    Promise<String> promise = Promise.promise();

    String result =
        EventLoops.await(
            vertx,
            () -> {
              Future<String> limited = TimeLimit.of(60_000, promise.future());
              promise.complete("done");
              return limited;
            });

    assertEquals("done", result);
  }
}
