package dev.mcpbridge.trace;

import dev.mcpbridge.protocol.Envelope;
import io.vertx.core.Future;
import java.util.function.UnaryOperator;

/**
 * Begins the spans of requests. The context of a trace travels in the envelope of a call, as
 * SEP-414 says: to the threads, the other nodes, the containers and the servers. Thread-safe.
 */
public interface Tracer {

  /** Begins no spans, and leaves the contexts of callers as they are. */
  Tracer OFF =
      new Tracer() {
        @Override
        public boolean isOn() {
          return false;
        }

        @Override
        public Span receive(String name, UnaryOperator<String> field, Span outer, String caller) {
          return Span.NONE;
        }

        @Override
        public Span root(String name) {
          return Span.NONE;
        }

        @Override
        public Span begin(Span.Kind kind, String name, Envelope parent, long sinceNanos) {
          return Span.NONE;
        }

        @Override
        public long dropped() {
          return 0;
        }

        @Override
        public Future<Void> close() {
          return Future.succeededFuture();
        }
      };

  boolean isOn();

  /**
   * Begins the span of a request that came from outside. Its parent is the context that the request
   * has, or else the outer span; with both, the outer one is linked.
   *
   * @param field the fields {@code traceparent} and {@code tracestate} of the request; null for one
   *     that it does not have
   * @param outer the span of the HTTP request that has carried it; {@link Span#NONE} for none
   * @param caller under whose share a request to record counts
   */
  Span receive(String name, UnaryOperator<String> field, Span outer, String caller);

  /** Begins the first span of a trace, which this program begins itself. */
  Span root(String name);

  /**
   * Begins a span of a request that is recorded.
   *
   * @param parent has the context
   * @param sinceNanos when it began, by {@link System#nanoTime()}
   */
  Span begin(Span.Kind kind, String name, Envelope parent, long sinceNanos);

  /** Begins a span now. */
  default Span begin(Span.Kind kind, String name, Envelope parent) {
    return isOn() ? begin(kind, name, parent, System.nanoTime()) : Span.NONE;
  }

  /** How many spans were lost because the collector did not take them. */
  long dropped();

  /** Sends what was recorded, for at most two seconds. */
  Future<Void> close();
}
