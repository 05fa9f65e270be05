package dev.mcpbridge.cluster.link;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Large messages on their way, in pieces: so many bytes of each may be under way as the receiver
 * has room for, so that neither a queue nor the memory of either side fills up, and small messages
 * pass between them. Confined to the link's context.
 */
final class Pieces {
  static final int SIZE = 64 * 1024;
  static final int WINDOW = 4 * SIZE;

  private final Sink sink;
  private final int maxMessage;
  private final Map<Long, Leaving> leaving = new LinkedHashMap<>();
  private final Map<Long, Coming> coming = new HashMap<>();
  private long streams;

  /** Where frames go. */
  interface Sink {
    /**
     * @param left how much of the message is still to come, with this piece
     */
    void piece(long stream, int left, byte[] bytes, int from, int to);

    void credit(long stream, int bytes);

    void message(byte[] whole);
  }

  private static final class Leaving {
    final byte[] bytes;
    final boolean isState;
    int sent;
    int allowed = WINDOW;

    Leaving(byte[] bytes, boolean isState) {
      this.bytes = bytes;
      this.isState = isState;
    }

    boolean isDone() {
      return sent == bytes.length;
    }
  }

  private static final class Coming {
    final ArrayDeque<byte[]> parts = new ArrayDeque<>();
    final int total;
    int received;

    Coming(int total) {
      this.total = total;
    }

    byte[] whole() {
      byte[] whole = new byte[total];
      int at = 0;
      for (byte[] part : parts) {
        System.arraycopy(part, 0, whole, at, part.length);
        at += part.length;
      }
      return whole;
    }
  }

  /**
   * @param maxMessage bytes; a larger one is a mistake of the other side
   */
  Pieces(int maxMessage, Sink sink) {
    this.maxMessage = maxMessage;
    this.sink = sink;
  }

  /**
   * @param isState whether {@link #isSendingState} is to tell of it
   */
  void send(byte[] message, boolean isState) {
    leaving.put(++streams, new Leaving(message, isState));
    pump();
  }

  /** Whether the state is under way from here. */
  boolean isSendingState() {
    return leaving.values().stream().anyMatch(message -> message.isState);
  }

  /** Whether no message is under way from here. */
  boolean isIdle() {
    return leaving.isEmpty();
  }

  void credited(long stream, int bytes) {
    Leaving found = leaving.get(stream);
    if (found != null) {
      found.allowed += bytes;
      pump();
    }
  }

  /**
   * @param left how much of the message is still to come, with this piece
   */
  void came(long stream, int left, byte[] bytes) {
    Coming message = coming.computeIfAbsent(stream, first -> begin(left));
    message.parts.add(bytes);
    message.received += bytes.length;
    if (message.received > message.total || bytes.length == 0) {
      throw new IllegalArgumentException("a piece that does not fit its message");
    }
    if (message.received == message.total) {
      coming.remove(stream);
      sink.message(message.whole());
    } else {
      sink.credit(stream, bytes.length);
    }
  }

  private Coming begin(int total) {
    if (total < 0 || total > maxMessage) {
      throw new IllegalArgumentException("a message of " + total + " bytes");
    }
    return new Coming(total);
  }

  /** One piece of each in turn. */
  private void pump() {
    boolean hasSent = true;
    while (hasSent) {
      hasSent = false;
      Iterator<Map.Entry<Long, Leaving>> each = leaving.entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry<Long, Leaving> next = each.next();
        hasSent |= sendPiece(next.getKey(), next.getValue());
        if (next.getValue().isDone()) {
          each.remove();
        }
      }
    }
  }

  private boolean sendPiece(long stream, Leaving message) {
    int left = message.bytes.length - message.sent;
    int size = Math.min(Math.min(SIZE, left), message.allowed);
    if (size == 0) {
      return false;
    }
    sink.piece(stream, left, message.bytes, message.sent, message.sent + size);
    message.sent += size;
    message.allowed -= size;
    return true;
  }
}
