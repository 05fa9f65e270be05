package dev.mcpbridge.adapter.grpc;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.transport.ClientResponse;
import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Splits the body of a response into messages (gRPC over HTTP/2, "Length-Prefixed-Message"): a byte
 * that tells whether the message is compressed, four bytes with its length, and the message. The
 * bridge accepts no compression. Each byte is copied a bounded number of times, however small the
 * chunks are. Confined to its context.
 */
final class FrameReader {
  private static final int HEAD = 5;
  private static final int FIRST_CAPACITY = 16 << 10;

  private final int max;
  private final Predicate<byte[]> receiver;
  private final byte[] head = new byte[HEAD];
  private byte[] message;
  private int length;
  private int filled;

  /**
   * @param max maximum size of a message in bytes
   * @param receiver gets each message; false if it wants no more
   */
  FrameReader(int max, Predicate<byte[]> receiver) {
    this.max = max;
    this.receiver = receiver;
  }

  /**
   * Passes on the messages that are complete.
   *
   * @return false if the receiver wants no more
   * @throws BridgeException RESPONSE_TOO_LARGE, or UPSTREAM_PROTOCOL_ERROR for an invalid frame
   */
  boolean feed(Buffer chunk) {
    int at = 0;
    while (at < chunk.length()) {
      at += message == null ? readHead(chunk, at) : readMessage(chunk, at);
      if (message != null && filled == length) {
        byte[] complete = message.length == length ? message : Arrays.copyOf(message, length);
        message = null;
        filled = 0;
        if (!receiver.test(complete)) {
          return false;
        }
      }
    }
    return true;
  }

  private int readHead(Buffer chunk, int at) {
    int count = Math.min(HEAD - filled, chunk.length() - at);
    chunk.getBytes(at, at + count, head, filled);
    filled += count;
    if (filled == HEAD) {
      length = checkedLength();
      message = new byte[Math.min(length, FIRST_CAPACITY)];
      filled = 0;
    }
    return count;
  }

  /** The buffer grows with what has arrived, and not with what is promised. */
  private int readMessage(Buffer chunk, int at) {
    int count = Math.min(length - filled, chunk.length() - at);
    if (filled + count > message.length) {
      long doubled = Math.max(filled + count, 2L * message.length);
      message = Arrays.copyOf(message, (int) Math.min(length, doubled));
    }
    chunk.getBytes(at, at + count, message, filled);
    filled += count;
    return count;
  }

  private int checkedLength() {
    Buffer read = Buffer.buffer(head);
    if (read.getByte(0) != 0) {
      throw invalid("a message is compressed, which was not accepted");
    }
    long announced = read.getUnsignedInt(1);
    if (announced > max) {
      throw ClientResponse.tooLarge(max);
    }
    return (int) announced;
  }

  /** The bytes that wait for the rest of their message. */
  int buffered() {
    return message == null ? filled : message.length;
  }

  /** Whether the body ended within a message. */
  boolean isIncomplete() {
    return message != null || filled > 0;
  }

  static BridgeException invalid(String problem) {
    return new BridgeException(
            ErrorCode.UPSTREAM_PROTOCOL_ERROR, "The server does not speak gRPC: " + problem)
        .withExecuted(Executed.UNKNOWN);
  }
}
