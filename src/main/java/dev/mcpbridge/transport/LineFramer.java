package dev.mcpbridge.transport;

import dev.mcpbridge.protocol.ByteOrderMark;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Splits a byte stream into lines, independent of the chunks in which it arrives. A trailing CR and
 * a leading byte order mark are removed, blank lines are skipped. A line over the limit is read to
 * its end, reported with its first and last bytes, and discarded; memory stays within the limit.
 *
 * <p>Not thread-safe: owned by one reading thread.
 */
public final class LineFramer {
  private static final int EXCERPT = 256;

  /** Receives the lines. */
  public interface Sink {
    /** One line without its terminator; the sink may keep the array. */
    void line(byte[] bytes, int from, int to);

    /** A line over the limit: its length, its first and its last bytes. */
    void oversize(long length, byte[] head, byte[] tail);
  }

  private final int maxLine;
  private final List<byte[]> chunks = new ArrayList<>();
  private int buffered;
  private long skipped;
  private byte[] head;
  private byte[] tail;

  public LineFramer(int maxLine) {
    this.maxLine = maxLine;
  }

  /** Processes the next bytes of the stream; they are copied, so the array can be reused. */
  public void feed(byte[] bytes, int length, Sink sink) {
    int from = 0;
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        endLine(bytes, from, i, sink);
        from = i + 1;
      }
    }
    if (from < length) {
      buffer(bytes, from, length);
    }
  }

  /** Bytes read so far of a current line over the limit; 0 if the line is within the limit. */
  public long skipped() {
    return skipped;
  }

  /** Number of buffered bytes of an incomplete line. */
  public int bufferedBytes() {
    return buffered;
  }

  private void endLine(byte[] bytes, int from, int to, Sink sink) {
    if (buffered == 0 && skipped == 0) {
      if (to - from > maxLine) {
        buffer(bytes, from, to);
      } else {
        emit(Arrays.copyOfRange(bytes, from, to), sink);
        return;
      }
    } else {
      buffer(bytes, from, to);
    }
    if (skipped > 0) {
      sink.oversize(skipped, head, tail);
      skipped = 0;
      head = tail = null;
    } else {
      byte[] line = join();
      emit(line, sink);
    }
  }

  private void emit(byte[] line, Sink sink) {
    int from = ByteOrderMark.length(line);
    int to = line.length;
    while (to > from && line[to - 1] == '\r') {
      to--;
    }
    if (to > from) {
      sink.line(line, from, to);
    }
  }

  private void buffer(byte[] bytes, int from, int to) {
    if (skipped > 0) {
      skip(bytes, from, to);
    } else if (buffered + (to - from) > maxLine) {
      overflow(bytes, from, to);
    } else if (to > from) {
      chunks.add(Arrays.copyOfRange(bytes, from, to));
      buffered += to - from;
    }
  }

  private void overflow(byte[] bytes, int from, int to) {
    startOversize(bytes, from, to);
    skipped = buffered;
    chunks.clear();
    buffered = 0;
    skip(bytes, from, to);
  }

  private void startOversize(byte[] bytes, int from, int to) {
    ByteArrayOutputStream start = new ByteArrayOutputStream();
    for (byte[] chunk : chunks) {
      start.write(chunk, 0, Math.min(chunk.length, EXCERPT));
      if (start.size() >= EXCERPT) {
        break;
      }
    }
    start.write(bytes, from, Math.min(to - from, EXCERPT));
    head = Arrays.copyOf(start.toByteArray(), EXCERPT);
    tail = new byte[0];
  }

  private void skip(byte[] bytes, int from, int to) {
    skipped += to - from;
    byte[] joined = Arrays.copyOf(tail, tail.length + Math.min(to - from, EXCERPT));
    int added = joined.length - tail.length;
    System.arraycopy(bytes, to - added, joined, tail.length, added);
    tail = Arrays.copyOfRange(joined, Math.max(0, joined.length - EXCERPT), joined.length);
  }

  private byte[] join() {
    byte[] line = new byte[buffered];
    int offset = 0;
    for (byte[] chunk : chunks) {
      System.arraycopy(chunk, 0, line, offset, chunk.length);
      offset += chunk.length;
    }
    chunks.clear();
    buffered = 0;
    return line;
  }
}
