package dev.mcpbridge.adapter;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** The service behind an {@link AdaptedTransport}. Used on a single context. */
public interface Backend {

  /**
   * Opens the backend. Called once, before all other methods; {@link #close} cancels it.
   *
   * @param listener receives the events of the backend
   */
  Future<Identity> open(Listener listener);

  /** Tool definitions as in {@code tools/list}. */
  List<JsonSlice> tools();

  /**
   * The omitted operations for {@code GET /servers/{id}}, as a JSON object; null if there are no
   * omissions.
   */
  default JsonSlice omitted() {
    return null;
  }

  /** Starts a call. */
  RunningCall call(Invocation invocation);

  /**
   * Reads a resource that an earlier result referred to; a {@code resources/read} result. Most
   * services have none.
   */
  default Future<JsonSlice> read(String uri) {
    return Future.failedFuture(
        new BridgeException(ErrorCode.NOT_FOUND, "The server has no resources"));
  }

  /** Succeeds if the service is reachable. */
  Future<Void> probe();

  /** Cancels running calls and releases all resources; never fails. */
  Future<Void> close();

  /** Receives the events of a backend; called on its context. */
  interface Listener {

    /** The tools have changed. */
    void changed();

    /** Runs local work whose duration does not count towards the start timeout. */
    <T> Future<T> withoutTimeout(Supplier<Future<T>> work);
  }

  /** Name, version and instructions for {@code initialize}; instructions may be null. */
  record Identity(String name, String version, String instructions) {}

  /**
   * A call of one tool.
   *
   * @param arguments one JSON object
   * @param authorization the caller's own credential; null to use the operator's
   * @param traceContext headers for the request
   * @param timeoutMillis time after which the call is cancelled; 0 if there is no limit
   * @param progress receives the number of messages so far and the latest one; null if not wanted
   */
  record Invocation(
      String tool,
      JsonSlice arguments,
      String authorization,
      Map<String, String> traceContext,
      long timeoutMillis,
      BiConsumer<Integer, String> progress) {}

  /**
   * A running call.
   *
   * @param result a {@code CallToolResult}; fails with an error that the bridge reports
   * @param cancel cancels the call as far as possible
   */
  record RunningCall(Future<JsonSlice> result, Runnable cancel) {
    public static RunningCall of(Future<JsonSlice> result) {
      return new RunningCall(result, () -> {});
    }
  }
}
