package dev.mcpbridge.transport;

import io.vertx.core.Future;
import java.util.OptionalLong;

/**
 * One connection to one upstream, carrying whole JSON-RPC messages. Used on the context that opened
 * it, on which its {@link TransportListener} is called too.
 */
public interface Transport {

  /**
   * Sends one message. It goes out in order and is never cut.
   *
   * @param line the message with its newline
   * @return the position in the outgoing stream behind the message, for {@link #acknowledge}; −1
   *     where too much waits already and nothing was taken
   */
  long send(byte[] line);

  /** Tells that the peer has provably read everything up to the position: it answered. */
  default void acknowledge(long position) {
    // nothing to be done where nothing is held back
  }

  /** The process id, where there is a process. */
  default OptionalLong pid() {
    return OptionalLong.empty();
  }

  /**
   * What the process behind it said last on stderr, for administrators and the log; empty where it
   * said nothing.
   */
  default String lastWords() {
    return "";
  }

  /**
   * Ends the connection and everything behind it. Completes when that is gone; never fails.
   * Idempotent.
   */
  Future<Void> close();
}
