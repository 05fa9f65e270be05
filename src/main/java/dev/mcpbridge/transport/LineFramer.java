package dev.mcpbridge.transport;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Cuts a byte stream into lines, indifferent to how the pipe cut it. A trailing CR and a leading
 * byte order mark are removed, blank lines are skipped. A line over the limit is read to its end,
 * reported with its first and last bytes, and forgotten; memory stays within the limit.
 *
 * <p>Not thread-safe: owned by one reading thread.
 */
public final class LineFramer {
  private static final int ENDS = 256;

  /** Receives what was cut. */
  public interface Sink {
    /** One line without its end; the array is the sink's to keep. */
    void line(byte[] bytes, int from, int to);

    /** A line that was too long: its length so far, and what is left of it. */
    void oversize(long length, byte[] head, byte[] tail);
  }

  private final int maxLine;
  private final List<byte[]> chunks = new ArrayList<>();
  private int held;
  private long skipped;
  private byte[] head;
  private byte[] tail;

  public LineFramer(int maxLine) {
    this.maxLine = maxLine;
  }

  /** Takes the next bytes of the stream; they are copied, the array can be reused. */
  public void feed(byte[] bytes, int length, Sink sink) {
    int from = 0;
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        endLine(bytes, from, i, sink);
        from = i + 1;
      }
    }
    if (from < length) {
      hold(bytes, from, length);
    }
  }

  /** Bytes so far of a line that is over the limit, 0 where the present one is not. */
  public long skipped() {
    return skipped;
  }

  /** Bytes that wait for the end of their line. */
  public int held() {
    return held;
  }

  private void endLine(byte[] bytes, int from, int to, Sink sink) {
    if (held == 0 && skipped == 0) {
      if (to - from > maxLine) {
        hold(bytes, from, to);
      } else {
        emit(Arrays.copyOfRange(bytes, from, to), sink);
        return;
      }
    } else {
      hold(bytes, from, to);
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
    int from = startsWithMark(line) ? 3 : 0;
    int to = line.length;
    while (to > from && line[to - 1] == '\r') {
      to--;
    }
    if (to > from) {
      sink.line(line, from, to);
    }
  }

  private void hold(byte[] bytes, int from, int to) {
    if (skipped > 0) {
      skip(bytes, from, to);
    } else if (held + (to - from) > maxLine) {
      overflow(bytes, from, to);
    } else if (to > from) {
      chunks.add(Arrays.copyOfRange(bytes, from, to));
      held += to - from;
    }
  }

  private void overflow(byte[] bytes, int from, int to) {
    hold(chunks, bytes, from, to);
    skipped = held;
    chunks.clear();
    held = 0;
    skip(bytes, from, to);
  }

  private void hold(List<byte[]> kept, byte[] bytes, int from, int to) {
    ByteArrayOutputStream start = new ByteArrayOutputStream();
    for (byte[] chunk : kept) {
      start.write(chunk, 0, Math.min(chunk.length, ENDS));
      if (start.size() >= ENDS) {
        break;
      }
    }
    start.write(bytes, from, Math.min(to - from, ENDS));
    head = Arrays.copyOf(start.toByteArray(), ENDS);
    tail = new byte[0];
  }

  private void skip(byte[] bytes, int from, int to) {
    skipped += to - from;
    byte[] joined = Arrays.copyOf(tail, tail.length + Math.min(to - from, ENDS));
    int fresh = joined.length - tail.length;
    System.arraycopy(bytes, to - fresh, joined, tail.length, fresh);
    tail = Arrays.copyOfRange(joined, Math.max(0, joined.length - ENDS), joined.length);
  }

  private byte[] join() {
    byte[] line = new byte[held];
    int at = 0;
    for (byte[] chunk : chunks) {
      System.arraycopy(chunk, 0, line, at, chunk.length);
      at += chunk.length;
    }
    chunks.clear();
    held = 0;
    return line;
  }

  private static boolean startsWithMark(byte[] line) {
    return line.length >= 3
        && line[0] == (byte) 0xEF
        && line[1] == (byte) 0xBB
        && line[2] == (byte) 0xBF;
  }
}
