package dev.mcpbridge.sandbox;

import io.vertx.core.buffer.Buffer;

/**
 * Demultiplexes an attached stream. Each frame starts with an 8-byte header that contains the
 * output and the length (Docker Engine API, attach, stream format). Independent of the chunks in
 * which the stream arrives. Confined to one context.
 */
final class DockerFrameReader {
  private static final int HEADER = 8;

  private final Sink sink;
  private final byte[] header = new byte[HEADER];
  private int headerBytes;
  private long remaining;

  /** Receives parts of a container's outputs. */
  interface Sink {
    void stdout(byte[] bytes);

    void stderr(byte[] bytes);
  }

  DockerFrameReader(Sink sink) {
    this.sink = sink;
  }

  void feed(Buffer chunk, int from) {
    int offset = from;
    while (offset < chunk.length()) {
      if (remaining == 0) {
        header[headerBytes++] = chunk.getByte(offset++);
        if (headerBytes == HEADER) {
          headerBytes = 0;
          remaining = Buffer.buffer(header).getUnsignedInt(4);
        }
      } else {
        int to = (int) Math.min(chunk.length(), offset + remaining);
        byte[] part = chunk.getBytes(offset, to);
        remaining -= part.length;
        offset = to;
        deliver(part);
      }
    }
  }

  private void deliver(byte[] bytes) {
    if (header[0] == 2) {
      sink.stderr(bytes);
    } else {
      sink.stdout(bytes);
    }
  }
}
