package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.Arrays;

/** What nodes send each other after they have introduced themselves. */
sealed interface Frame {

  /**
   * A piece of a message.
   *
   * @param number position in the stream, from 1
   * @param message 0 for a complete message, else the number of the large message
   * @param left bytes of the message that are still to come, with this piece
   */
  record Piece(long stream, long number, long message, int left, byte[] bytes) implements Frame {}

  /**
   * Sent at intervals, and when many bytes were received.
   *
   * @param lastNumber number of the last piece that was sent in the stream
   * @param ackStream stream of the other node
   * @param ackNumber number of its last piece that was received
   * @param base the piece of the other node that had been received last when the stream began;
   *     answers to what came later are in this stream
   * @param member number of the sending node; 0 if it has none yet
   */
  record Beat(
      long stream, long lastNumber, long ackStream, long ackNumber, Position base, int member)
      implements Frame {}

  /** A piece of a stream. */
  record Position(long stream, long number) {
    boolean isBefore(Position other) {
      return stream < other.stream || stream == other.stream && number < other.number;
    }
  }

  /** Pieces are missing: those that were not acknowledged are to be sent again. */
  record Missing(long stream, long ackNumber) implements Frame {}

  /** The sending node stops. */
  record Bye() implements Frame {}

  default byte[] toBytes(byte[] token) {
    WireWriter out = writer().bytes(token);
    if (this instanceof Piece piece) {
      out.octet(1)
          .number(piece.stream())
          .number(piece.number())
          .number(piece.message())
          .number(piece.left())
          .bytes(piece.bytes());
    } else if (this instanceof Beat beat) {
      out.octet(2)
          .number(beat.stream())
          .number(beat.lastNumber())
          .number(beat.ackStream())
          .number(beat.ackNumber())
          .number(beat.base().stream())
          .number(beat.base().number())
          .number(beat.member());
    } else if (this instanceof Missing missing) {
      out.octet(3).number(missing.stream()).number(missing.ackNumber());
    } else {
      out.octet(4);
    }
    return out.toBytes();
  }

  private WireWriter writer() {
    return this instanceof Piece piece
        ? new WireWriter(piece.bytes().length + 80)
        : new WireWriter(80);
  }

  /**
   * @return null if the frame has another token
   */
  static Frame of(byte[] bytes, byte[] token) {
    WireReader in = new WireReader(bytes);
    if (!Arrays.equals(in.bytes(), token)) {
      return null;
    }
    return switch (in.octet()) {
      case 1 -> new Piece(in.number(), in.number(), in.number(), (int) in.number(), in.bytes());
      case 2 ->
          new Beat(
              in.number(),
              in.number(),
              in.number(),
              in.number(),
              new Position(in.number(), in.number()),
              (int) in.number());
      case 3 -> new Missing(in.number(), in.number());
      default -> new Bye();
    };
  }
}
