package dev.mcpbridge.session;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Consumer;

/** One request in flight: its id at the upstream and its future response. */
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
   * The content of a request.
   *
   * @param params one JSON object
   * @param deadlineNanos on the clock of {@link System#nanoTime()}
   * @param envelope the client's metadata and capabilities
   * @param progress receives the params of progress notifications; null if not wanted
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

  /** Suspends the deadline while the server waits for a response from the bridge. */
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

  boolean isExpired(long nowNanos) {
    return pausedAtNanos == 0 && request.deadlineNanos() + pausedNanos - nowNanos <= 0;
  }

  public Request request() {
    return request;
  }

  /** Completes with the response, {@code result} as its payload, or with a BridgeException. */
  public Future<RpcMessage> response() {
    return promise.future();
  }
}
