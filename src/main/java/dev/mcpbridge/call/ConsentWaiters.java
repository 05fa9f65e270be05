package dev.mcpbridge.call;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Requests at this node that wait for a consent. Confined to the event loop. */
final class ConsentWaiters {
  private final Vertx vertx;

  /** By the name of the ticket. */
  private final Map<String, Set<Promise<Void>>> waiting = new HashMap<>();

  ConsentWaiters(Vertx vertx) {
    this.vertx = vertx;
  }

  void given(String name) {
    Set<Promise<Void>> waiters = waiting.remove(name);
    if (waiters != null) {
      waiters.forEach(Promise::tryComplete);
    }
  }

  /** Returns whether a consent was given in time. */
  Future<Boolean> await(String name, long millis) {
    Promise<Void> given = Promise.promise();
    waiting.computeIfAbsent(name, unused -> new HashSet<>()).add(given);
    long timer = vertx.setTimer(millis, late -> given.tryFail("late"));
    return given
        .future()
        .onComplete(
            done -> {
              vertx.cancelTimer(timer);
              waiting.computeIfPresent(
                  name,
                  (same, waiters) -> waiters.remove(given) && waiters.isEmpty() ? null : waiters);
            })
        .transform(done -> Future.succeededFuture(done.succeeded()));
  }
}
