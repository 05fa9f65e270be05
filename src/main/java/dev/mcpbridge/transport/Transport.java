package dev.mcpbridge.transport;

import io.vertx.core.Future;
import java.util.OptionalLong;

/**
 * One connection to one upstream, carrying whole JSON-RPC messages. Used on the context that opened
 * it; its {@link TransportListener} is called on the same context.
 */
public interface Transport {

  /**
   * Sends one message. Messages are written in order and never partially.
   *
   * @param line the message with its newline
   * @return the position after the message in the outgoing stream, for {@link #acknowledge}; −1 if
   *     the queue is full and the message was rejected
   */
  long send(byte[] line);

  /** Reports that the peer has read everything up to the position, because it has responded. */
  default void acknowledge(long position) {
    // only needed by transports with a write window
  }

  /** The process id; empty if there is no local process. */
  default OptionalLong pid() {
    return OptionalLong.empty();
  }

  /**
   * The last line that the server process wrote to stderr, for administrators and the log; empty if
   * it wrote nothing.
   */
  default String lastStderrLine() {
    return "";
  }

  /**
   * Ends the connection and the server process, if any. Completes when both have ended; never
   * fails. Idempotent.
   */
  Future<Void> close();
}
