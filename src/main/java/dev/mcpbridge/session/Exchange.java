package dev.mcpbridge.session;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Consumer;

/** One request under way: its id at the upstream and the answer to come. */
public final class Exchange {
  final long id;
  final Request request;
  final long sentNanos = System.nanoTime();
  final Promise<RpcMessage> promise = Promise.promise();
  long position;
  private long pausedAtNanos;
  private long pausedNanos;

  Exchange(long id, Request request) {
    this.id = id;
    this.request = request;
  }

  /**
   * What is asked.
   *
   * @param params one JSON object
   * @param deadlineNanos on {@link System#nanoTime()}'s clock
   * @param envelope what the client sent beside it
   * @param progress hears the params of progress notifications; null if nobody listens
   */
  public record Request(
      String method,
      JsonSlice params,
      long deadlineNanos,
      Envelope envelope,
      Consumer<JsonSlice> progress) {

    public static Request plain(String method, JsonSlice params, long deadlineNanos) {
      return new Request(method, params, deadlineNanos, Envelope.NONE, null);
    }
  }

  /** While the server waits for an answer of ours its time does not run. */
  public void pause() {
    if (pausedAtNanos == 0) {
      pausedAtNanos = System.nanoTime();
    }
  }

  public void resume() {
    if (pausedAtNanos != 0) {
      pausedNanos += System.nanoTime() - pausedAtNanos;
      pausedAtNanos = 0;
    }
  }

  boolean isLate(long nowNanos) {
    return pausedAtNanos == 0 && request.deadlineNanos() + pausedNanos - nowNanos <= 0;
  }

  public Request request() {
    return request;
  }

  /** The answer with its {@code result} as the payload, or a BridgeException. */
  public Future<RpcMessage> answer() {
    return promise.future();
  }
}
