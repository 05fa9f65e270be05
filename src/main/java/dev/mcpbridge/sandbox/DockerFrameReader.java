package dev.mcpbridge.sandbox;

import io.vertx.core.buffer.Buffer;

/**
 * Takes an attached stream apart: each frame has eight bytes of head, which of the outputs it is
 * and how long (Docker Engine API, attach, stream format). Indifferent to how the network cut it.
 * Owned by one context.
 */
final class DockerFrameReader {
  private static final int HEAD = 8;

  private final Sink sink;
  private final byte[] head = new byte[HEAD];
  private int headBytes;
  private long left;

  /** Gets the parts of a container's outputs. */
  interface Sink {
    void stdout(byte[] bytes);

    void stderr(byte[] bytes);
  }

  DockerFrameReader(Sink sink) {
    this.sink = sink;
  }

  void feed(Buffer chunk, int from) {
    int at = from;
    while (at < chunk.length()) {
      if (left == 0) {
        head[headBytes++] = chunk.getByte(at++);
        if (headBytes == HEAD) {
          headBytes = 0;
          left = Buffer.buffer(head).getUnsignedInt(4);
        }
      } else {
        int to = (int) Math.min(chunk.length(), at + left);
        byte[] part = chunk.getBytes(at, to);
        left -= part.length;
        at = to;
        pass(part);
      }
    }
  }

  private void pass(byte[] bytes) {
    if (head[0] == 2) {
      sink.stderr(bytes);
    } else {
      sink.stdout(bytes);
    }
  }
}
