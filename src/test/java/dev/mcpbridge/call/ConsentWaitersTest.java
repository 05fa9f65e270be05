package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests that wait for a user who opens a link, or does not. */
@ExtendWith(VertxExtension.class)
class ConsentWaitersTest {
  private static final long LONG = 60_000;

  @Test
  void userWhoNeverAgreesEndsTheWaitInTime(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    ConsentWaiters waiters = new ConsentWaiters(vertx);

    assertFalse(EventLoops.await(vertx, () -> waiters.await("alice", 10)));
  }

  @Test
  void consentEndsTheWaitOfAllItsRequestsAndOfNoOther(@ProvidedBy(BridgeVertx.class) Vertx vertx)
      throws Exception {
    ConsentWaiters waiters = new ConsentWaiters(vertx);

    boolean isGiven =
        EventLoops.await(
            vertx,
            () -> {
              Future<Boolean> first = waiters.await("alice", LONG);
              Future<Boolean> second = waiters.await("alice", LONG);
              Future<Boolean> late = waiters.await("bob", 10);
              waiters.given("alice");
              return Future.all(first, second)
                  .compose(all -> late)
                  .map(bob -> first.result() && second.result() && !bob);
            });

    assertTrue(isGiven);
  }
}
