package dev.mcpbridge.cluster.peer;

import java.util.HashMap;
import java.util.Map;

/**
 * The messages from one node: joins pieces and notices missing ones. Confined to the bridge's
 * context.
 */
final class Inbox {
  private final int maxMessage;
  private final Map<Long, Partial> partial = new HashMap<>();
  private long stream;
  private long number;
  private long bytes;

  /** What a piece completes. */
  enum Outcome {
    MESSAGE,
    INCOMPLETE,
    /** Pieces before this one are missing. */
    GAP,
    /** It came before, or belongs to a stream that has ended. */
    OLD,
    /** The sender does not follow the protocol. */
    INVALID
  }

  private static final class Partial {
    final byte[] whole;
    int received;

    Partial(int total) {
      whole = new byte[total];
    }
  }

  private byte[] complete;

  /**
   * @param maxMessage bytes; a larger message is an error of the sender
   */
  Inbox(int maxMessage) {
    this.maxMessage = maxMessage;
  }

  long stream() {
    return stream;
  }

  /** The number of the last piece of this stream before which none is missing. */
  long number() {
    return number;
  }

  Frame.Position position() {
    return new Frame.Position(stream, number);
  }

  /** Bytes received in this stream. */
  long bytes() {
    return bytes;
  }

  /** The message that the last piece completed. */
  byte[] message() {
    return complete;
  }

  /** Whether a stream is newer than the one of the last piece. */
  boolean isNew(long ofStream) {
    return ofStream > stream;
  }

  Outcome receive(long ofStream, long ofNumber, long message, int left, byte[] piece) {
    if (ofStream < stream) {
      return Outcome.OLD;
    }
    if (ofStream > stream) {
      begin(ofStream);
    }
    if (ofNumber != number + 1) {
      return ofNumber <= number ? Outcome.OLD : Outcome.GAP;
    }
    number = ofNumber;
    bytes += piece.length;
    if (message == 0) {
      complete = piece;
      return Outcome.MESSAGE;
    }
    Partial known = partial.get(message);
    boolean fits =
        piece.length <= left
            && left <= maxMessage
            && (known == null || known.received + left == known.whole.length);
    if (!fits) {
      return Outcome.INVALID;
    }
    return join(message, left, piece) ? Outcome.MESSAGE : Outcome.INCOMPLETE;
  }

  private boolean join(long message, int left, byte[] piece) {
    Partial joined = partial.computeIfAbsent(message, first -> new Partial(left));
    System.arraycopy(piece, 0, joined.whole, joined.received, piece.length);
    joined.received += piece.length;
    if (joined.received < joined.whole.length) {
      return false;
    }
    partial.remove(message);
    complete = joined.whole;
    return true;
  }

  /**
   * Whether everything that was sent has arrived.
   *
   * @param lastNumber number of the last piece of the stream
   */
  boolean hasAll(long ofStream, long lastNumber) {
    return ofStream < stream
        || ofStream == stream && lastNumber == number
        || ofStream > stream && lastNumber == 0;
  }

  /** The sender begins a stream; what is incomplete never arrives. */
  void begin(long newStream) {
    stream = newStream;
    number = 0;
    bytes = 0;
    partial.clear();
  }

  /** Forgets everything; streams of a new process begin anew. */
  void clear() {
    begin(0);
  }
}
