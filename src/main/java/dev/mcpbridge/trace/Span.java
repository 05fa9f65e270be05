package dev.mcpbridge.trace;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.Envelope;
import io.vertx.core.Future;

/**
 * A step of a request, from its begin to its end. Most requests are not recorded, and then every
 * method does nothing. Used by one thread at a time.
 */
public interface Span {

  /** How a span relates to those of other programs (OpenTelemetry Trace API, SpanKind). */
  enum Kind {
    INTERNAL,
    SERVER,
    CLIENT
  }

  /** A request without a trace context that is not recorded. */
  Span NONE =
      new Span() {
        @Override
        public Span set(String attribute, String value) {
          return this;
        }

        @Override
        public Span set(String attribute, long value) {
          return this;
        }

        @Override
        public Span failed(String errorType) {
          return this;
        }

        @Override
        public void end() {
          // nothing has begun
        }

        @Override
        public Envelope in(Envelope envelope) {
          return envelope;
        }

        @Override
        public boolean isRecorded() {
          return false;
        }

        @Override
        public String traceId() {
          return null;
        }
      };

  /** Sets an attribute, unless its value is null. */
  Span set(String attribute, String value);

  Span set(String attribute, long value);

  /**
   * Marks the step as failed.
   *
   * @param errorType a code, see {@link Conventions#ERROR_TYPE}
   */
  Span failed(String errorType);

  void end();

  /** An envelope with this span as the parent of what follows. */
  Envelope in(Envelope envelope);

  boolean isRecorded();

  /** 32 hexadecimal digits; null for a request without a trace context. */
  String traceId();

  /** Ends the span with an outcome, as soon as that is known. Returns the outcome. */
  default <T> Future<T> until(Future<T> outcome) {
    return isRecorded()
        ? outcome.onComplete(
            done -> end(), failure -> failed(BridgeException.of(failure).code().slug()).end())
        : outcome;
  }
}
