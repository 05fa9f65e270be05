package dev.mcpbridge.transport;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads a child's stderr to its end, so that the child never waits for it, and remembers the last
 * few kilobytes. Runs on a thread of its own.
 */
final class StderrTail implements Runnable {
  private static final int KEPT = 4096;
  private static final int SHOWN = 300;

  private final InputStream stderr;
  private final Runnable ended;
  private final byte[] ring = new byte[KEPT];
  private long total;

  /**
   * @param ended run on its thread when there is no more
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
        keep(buffer, n);
      }
    } catch (IOException e) {
      // the process is gone; what was read is kept
    }
    ended.run();
  }

  private synchronized void keep(byte[] buffer, int length) {
    for (int i = Math.max(0, length - KEPT); i < length; i++) {
      ring[(int) ((total + i) % KEPT)] = buffer[i];
    }
    total += length;
  }

  /** The last line that says something, made safe to show; empty if there is none. */
  synchronized String lastLine() {
    int length = (int) Math.min(total, KEPT);
    byte[] kept = new byte[length];
    for (int i = 0; i < length; i++) {
      kept[i] = ring[(int) ((total - length + i) % KEPT)];
    }
    String[] lines = new String(kept, StandardCharsets.UTF_8).split("\n");
    for (int i = lines.length - 1; i >= 0; i--) {
      String line = lines[i].replaceAll("\\p{Cntrl}", " ").strip();
      if (!line.isEmpty()) {
        return line.length() > SHOWN ? line.substring(0, SHOWN) + "…" : line;
      }
    }
    return "";
  }
}
