package dev.mcpbridge.transport;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for a condition that has no notification, by polling it. Stateless. */
public final class Polling {
  private Polling() {}

  /**
   * Completes when the condition is true; it is checked immediately and then periodically.
   *
   * @param millis polling interval
   * @param condition what to wait for
   * @param abortReason returns the failure that ends the wait, even if the condition has become
   *     true since; null to go on waiting
   */
  public static Future<Void> awaitCondition(
      Vertx vertx, long millis, BooleanSupplier condition, Supplier<Throwable> abortReason) {
    if (condition.getAsBoolean()) {
      return Future.succeededFuture();
    }
    Promise<Void> promise = Promise.promise();
    poll(vertx, millis, condition, abortReason, promise);
    return promise.future();
  }

  private static void poll(
      Vertx vertx,
      long millis,
      BooleanSupplier condition,
      Supplier<Throwable> abortReason,
      Promise<Void> promise) {
    Throwable failure = abortReason.get();
    if (failure != null) {
      promise.fail(failure);
    } else if (condition.getAsBoolean()) {
      promise.complete();
    } else {
      vertx.setTimer(millis, t -> poll(vertx, millis, condition, abortReason, promise));
    }
  }
}
