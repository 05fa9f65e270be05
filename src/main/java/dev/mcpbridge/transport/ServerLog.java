package dev.mcpbridge.transport;

import dev.mcpbridge.model.LogLine;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The last lines that the processes of one instance have written to stderr, and what the bridge
 * tells of them. Secrets of the configuration are masked, and colours removed. Thread-safe.
 */
public final class ServerLog {
  private static final int MAX_LINES = 2_000;
  private static final int MAX_CHARACTERS = 256 * 1024;
  private static final String MASK = "****";

  /** Select Graphic Rendition (ECMA-48 section 8.3.117). */
  private static final Pattern COLOURS = Pattern.compile("\\u001b\\[[0-9;:]*m");

  private final Clock clock;
  private final List<String> secrets;
  private final Deque<LogLine> lines = new ArrayDeque<>();
  private long last;
  private int characters;

  /**
   * @param secrets texts that are not shown
   */
  public ServerLog(Clock clock, List<String> secrets) {
    this.clock = clock;
    this.secrets = List.copyOf(secrets);
  }

  /**
   * @param pid 0 if it is of no process
   */
  public void add(String stream, long pid, String text) {
    append(stream, pid, shown(text));
  }

  /** A text without colours and secrets. */
  String shown(String text) {
    return masked(COLOURS.matcher(text).replaceAll(""));
  }

  /** Numbers are microseconds, so that they increase over restarts and nodes. */
  private synchronized void append(String stream, long pid, String text) {
    long now = clock.millis();
    last = Math.max(last + 1, now * 1_000);
    lines.addLast(new LogLine(last, now, stream, pid, text));
    characters += text.length();
    while (lines.size() > MAX_LINES || characters > MAX_CHARACTERS) {
      characters -= lines.removeFirst().text().length();
    }
  }

  private String masked(String text) {
    String masked = text;
    for (String secret : secrets) {
      masked = masked.replace(secret, MASK);
    }
    return masked;
  }

  /** The last lines, the oldest of them first. */
  public synchronized List<LogLine> last(int limit) {
    return lines.stream().skip(Math.max(0, lines.size() - limit)).toList();
  }

  /** The first lines after a number. */
  public synchronized List<LogLine> after(long number, int limit) {
    return lines.stream().filter(line -> line.number() > number).limit(limit).toList();
  }
}
