package dev.mcpbridge.transport;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for something of which nobody tells, by looking again and again. Stateless. */
public final class Polling {
  private Polling() {}

  /**
   * @param millis between two looks
   * @param isSo what is waited for
   * @param hopeless why it is not waited for any longer, even where it has come true since; null
   *     while it is
   */
  public static Future<Void> so(
      Vertx vertx, long millis, BooleanSupplier isSo, Supplier<Throwable> hopeless) {
    if (isSo.getAsBoolean()) {
      return Future.succeededFuture();
    }
    Promise<Void> promise = Promise.promise();
    look(vertx, millis, isSo, hopeless, promise);
    return promise.future();
  }

  private static void look(
      Vertx vertx,
      long millis,
      BooleanSupplier isSo,
      Supplier<Throwable> hopeless,
      Promise<Void> promise) {
    Throwable why = hopeless.get();
    if (why != null) {
      promise.fail(why);
    } else if (isSo.getAsBoolean()) {
      promise.complete();
    } else {
      vertx.setTimer(millis, t -> look(vertx, millis, isSo, hopeless, promise));
    }
  }
}
