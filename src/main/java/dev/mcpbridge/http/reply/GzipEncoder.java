package dev.mcpbridge.http.reply;

import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * A body in the gzip format (RFC 1952), in parts that a client can read as soon as it has them. A
 * compressed part refers to what was compressed before it, for four kilobytes, and never to a part
 * that was sent as it is. Nothing but those bytes is kept in between. One thread at a time.
 */
final class GzipEncoder {
  private static final int LEVEL = 3;
  private static final int SPACE = 8 * 1024;
  private static final int KEPT = 4 * 1024;
  private static final byte[] NOTHING = {};

  /** No name, no time, unknown system. */
  private static final byte[] HEAD = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

  /** An empty last block (RFC 1951 section 3.2.6). */
  private static final byte[] LAST_BLOCK = {3, 0};

  private final CRC32 checksum = new CRC32();
  private long length;
  private boolean hasBegun;
  private byte[] before = NOTHING;

  /** Encodes the next part, as it is or compressed. */
  Buffer part(Buffer content, boolean compresses) {
    byte[] bytes = content.getBytes();
    Buffer out = Buffer.buffer(compresses ? bytes.length / 4 + 64 : bytes.length + 64);
    if (!hasBegun) {
      hasBegun = true;
      out.appendBytes(HEAD);
    }
    checksum.update(bytes);
    length += bytes.length;
    if (compresses) {
      deflate(bytes, LEVEL, out);
      before = last(before, bytes);
    } else {
      before = NOTHING;
      deflate(bytes, Deflater.NO_COMPRESSION, out);
    }
    return out;
  }

  /** The end of what was sent. */
  private static byte[] last(byte[] before, byte[] bytes) {
    int kept = Math.min(KEPT, before.length + bytes.length);
    int ofThese = Math.min(kept, bytes.length);
    byte[] end = Arrays.copyOfRange(before, before.length - (kept - ofThese), before.length);
    byte[] last = Arrays.copyOf(end, kept);
    System.arraycopy(bytes, bytes.length - ofThese, last, kept - ofThese, ofThese);
    return last;
  }

  /** What follows the last part. */
  Buffer end() {
    return Buffer.buffer(LAST_BLOCK)
        .appendIntLE((int) checksum.getValue())
        .appendIntLE((int) length);
  }

  private void deflate(byte[] bytes, int level, Buffer out) {
    Deflater deflater = new Deflater(level, true);
    try {
      deflater.setDictionary(before);
      deflater.setInput(bytes);
      byte[] space = new byte[SPACE];
      int count;
      do {
        count = deflater.deflate(space, 0, space.length, Deflater.SYNC_FLUSH);
        out.appendBytes(space, 0, count);
      } while (count == space.length);
    } finally {
      deflater.end();
    }
  }
}
