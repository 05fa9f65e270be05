package dev.mcpbridge.transport;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Logs the lines that a process writes to stderr. Fed by one thread; the last line is for all. */
public final class StderrLines {
  private static final int MAX_LINE = 4096;
  private static final int MAX_SHOWN = 300;

  private final ServerLog log;
  private final long pid;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(256);
  private volatile String lastLine = "";

  /**
   * @param pid 0 if it is not known
   */
  public StderrLines(ServerLog log, long pid) {
    this.log = log;
    this.pid = pid;
  }

  /** Takes the next bytes. A line that is too long is logged in parts. */
  public void feed(byte[] bytes, int length) {
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        end();
      } else {
        line.write(bytes[i]);
        if (line.size() >= MAX_LINE && !isContinuation(bytes, i + 1, length)) {
          end();
        }
      }
    }
    remember();
  }

  /** Whether the next byte belongs to a character that has begun. */
  private static boolean isContinuation(byte[] bytes, int at, int length) {
    return at < length && (bytes[at] & 0xC0) == 0x80;
  }

  /** Ends the line. */
  public void end() {
    remember();
    String text = line.toString(StandardCharsets.UTF_8).stripTrailing();
    line.reset();
    if (!text.isEmpty()) {
      log.add("stderr", pid, text);
    }
  }

  private void remember() {
    String text = log.shown(line.toString(StandardCharsets.UTF_8));
    String shown = text.replaceAll("\\p{Cntrl}", " ").strip();
    if (!shown.isEmpty()) {
      lastLine = shown.length() > MAX_SHOWN ? shown.substring(0, MAX_SHOWN) + "…" : shown;
    }
  }

  /**
   * The last line that is not blank, without control characters and abbreviated; empty if none. It
   * may be incomplete.
   */
  public String lastLine() {
    return lastLine;
  }
}
