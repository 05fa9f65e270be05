package dev.mcpbridge.transport;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads a child's stderr to its end, so that the child never blocks on it, and keeps the last few
 * kilobytes. Runs on its own thread.
 */
final class StderrTail implements Runnable {
  private static final int CAPACITY = 4096;
  private static final int MAX_LINE = 300;

  private final InputStream stderr;
  private final Runnable ended;
  private final byte[] ring = new byte[CAPACITY];
  private long total;

  /**
   * @param ended callback, run on the reading thread at the end of the stream
   */
  StderrTail(InputStream stderr, Runnable ended) {
    this.stderr = stderr;
    this.ended = ended;
  }

  @Override
  public void run() {
    byte[] buffer = new byte[8192];
    try (stderr) {
      for (int n = stderr.read(buffer); n >= 0; n = stderr.read(buffer)) {
        append(buffer, n);
      }
    } catch (IOException e) {
      // the process has ended; the output read so far is kept
    }
    ended.run();
  }

  private synchronized void append(byte[] buffer, int length) {
    for (int i = Math.max(0, length - CAPACITY); i < length; i++) {
      ring[(int) ((total + i) % CAPACITY)] = buffer[i];
    }
    total += length;
  }

  /** The last non-blank line, without control characters and abbreviated; empty if none. */
  synchronized String lastLine() {
    int length = (int) Math.min(total, CAPACITY);
    byte[] tail = new byte[length];
    for (int i = 0; i < length; i++) {
      tail[i] = ring[(int) ((total - length + i) % CAPACITY)];
    }
    String[] lines = new String(tail, StandardCharsets.UTF_8).split("\n");
    for (int i = lines.length - 1; i >= 0; i--) {
      String line = lines[i].replaceAll("\\p{Cntrl}", " ").strip();
      if (!line.isEmpty()) {
        return line.length() > MAX_LINE ? line.substring(0, MAX_LINE) + "…" : line;
      }
    }
    return "";
  }
}
