package dev.mcpbridge.cluster.peer;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The messages on their way to one node. The event bus has no back-pressure; so only a window of
 * bytes is unacknowledged at a time, and the rest waits here. A large message is sent in pieces,
 * with small ones between them. Pieces are numbered and kept until they are acknowledged; when the
 * connection was replaced meanwhile, they are sent again. Confined to the bridge's context.
 */
final class Outbox {
  static final int PIECE_BYTES = 64 << 10;

  /** Small messages are sent while fewer bytes than this are unacknowledged. */
  static final int WINDOW_BYTES = 1 << 20;

  /** Pieces are sent while fewer bytes than this are unacknowledged. */
  static final int PIECES_WINDOW_BYTES = 4 * PIECE_BYTES;

  private final long maxQueuedBytes;
  private final Sink sink;
  private final ArrayDeque<byte[]> small = new ArrayDeque<>();
  private final Map<Long, Large> large = new LinkedHashMap<>();
  private final ArrayDeque<Frame.Piece> unacknowledged = new ArrayDeque<>();
  private long stream = 1;
  private long number;
  private long unacknowledgedBytes;
  private long queuedBytes;
  private long largeCount;

  /** Where pieces go. */
  interface Sink {
    void send(Frame.Piece piece);
  }

  private static final class Large {
    final byte[] bytes;
    int sent;

    Large(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  /**
   * @param maxQueuedBytes of messages that wait
   */
  Outbox(long maxQueuedBytes, Sink sink) {
    this.maxQueuedBytes = maxQueuedBytes;
    this.sink = sink;
  }

  /** The number of the stream; a new one begins when the receiver was lost. */
  long stream() {
    return stream;
  }

  /** The number of the last piece. */
  long lastNumber() {
    return number;
  }

  boolean isEmpty() {
    return small.isEmpty() && large.isEmpty() && unacknowledged.isEmpty();
  }

  /** Sends a message; false if too much waits. */
  boolean send(byte[] message) {
    if (queuedBytes > 0 && queuedBytes + message.length > maxQueuedBytes) {
      return false;
    }
    queuedBytes += message.length;
    if (message.length > PIECE_BYTES) {
      large.put(++largeCount, new Large(message));
    } else {
      small.add(message);
    }
    pump();
    return true;
  }

  /** The receiver has everything up to a number. */
  void acknowledged(long ofStream, long upTo) {
    if (ofStream == stream) {
      while (!unacknowledged.isEmpty() && unacknowledged.peek().number() <= upTo) {
        unacknowledgedBytes -= unacknowledged.poll().bytes().length;
      }
      pump();
    }
  }

  /** Sends what is not acknowledged again. */
  void repeat(long ofStream) {
    if (ofStream == stream) {
      unacknowledged.forEach(sink::send);
    }
  }

  /** Drops what waits and begins a new stream. */
  void reset() {
    small.clear();
    large.clear();
    stream++;
    number = 0;
    unacknowledged.clear();
    unacknowledgedBytes = 0;
    queuedBytes = 0;
  }

  private void pump() {
    while (!small.isEmpty() && unacknowledgedBytes < WINDOW_BYTES) {
      byte[] message = small.poll();
      send(0, message.length, message, 0, message.length);
    }
    while (!large.isEmpty() && unacknowledgedBytes < PIECES_WINDOW_BYTES) {
      sendOneOfEach();
    }
  }

  private void sendOneOfEach() {
    Iterator<Map.Entry<Long, Large>> each = large.entrySet().iterator();
    while (each.hasNext() && unacknowledgedBytes < PIECES_WINDOW_BYTES) {
      Map.Entry<Long, Large> next = each.next();
      Large message = next.getValue();
      int left = message.bytes.length - message.sent;
      int size = Math.min(PIECE_BYTES, left);
      int from = message.sent;
      message.sent += size;
      if (size == left) {
        each.remove();
      }
      send(next.getKey(), left, message.bytes, from, from + size);
    }
  }

  private void send(long message, int left, byte[] bytes, int from, int to) {
    number++;
    unacknowledgedBytes += to - from;
    queuedBytes -= to - from;
    byte[] piece = to - from == bytes.length ? bytes : Arrays.copyOfRange(bytes, from, to);
    Frame.Piece next = new Frame.Piece(stream, number, message, left, piece);
    unacknowledged.add(next);
    sink.send(next);
  }
}
