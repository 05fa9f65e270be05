package dev.mcpbridge.adapter;

import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;

/** What stands behind an {@link AdaptedTransport}. Used on one context. */
public interface Backend {

  /**
   * Gets ready; called once, before anything else, and given up by {@link #close}.
   *
   * @param listener is told of what happens behind it
   */
  Future<Identity> open(Listener listener);

  /** Definitions as in {@code tools/list}. */
  List<JsonSlice> tools();

  /**
   * What of it is not offered, for {@code GET /servers/{id}}: a JSON object; null where everything
   * is.
   */
  default JsonSlice omitted() {
    return null;
  }

  /** Begins a call. */
  RunningCall call(Invocation invocation);

  /** A resource that an earlier result named; the result of {@code resources/read}. */
  Future<JsonSlice> read(String uri);

  /** Whether it is still there. */
  Future<Void> probe();

  /** Gives up what runs, and lets go of everything; never fails. */
  Future<Void> close();

  /** What stands in front of it; called on its context. */
  interface Listener {

    /** There are other tools. */
    void changed();

    /** Work of this machine's, which does not count against the time of a start. */
    <T> Future<T> unhurried(Supplier<Future<T>> work);
  }

  /** Who it is. */
  record Identity(String name, String version, String instructions) {}

  /**
   * A call of one tool.
   *
   * @param arguments one JSON object
   * @param authorization the caller's own credential, null for the operator's
   */
  record Invocation(String tool, JsonSlice arguments, String authorization) {}

  /**
   * A call that has begun.
   *
   * @param result a {@code CallToolResult}; fails where the bridge has to say why
   * @param giveUp lets go of it as far as that is possible
   */
  record RunningCall(Future<JsonSlice> result, Runnable giveUp) {
    public static RunningCall of(Future<JsonSlice> result) {
      return new RunningCall(result, () -> {});
    }
  }
}
