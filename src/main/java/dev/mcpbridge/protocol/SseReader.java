package dev.mcpbridge.protocol;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Parses a stream of server-sent events (WHATWG HTML section 9.2.6) from chunks of any size. A
 * leading byte order mark, comments and unknown fields are skipped. Not thread-safe.
 */
public final class SseReader {
  private final int maxEvent;
  private final Consumer<Event> sink;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final ByteArrayOutputStream data = new ByteArrayOutputStream();
  private String type = "";
  private String lastId;
  private long retryMillis = -1;
  private boolean afterReturn;
  private boolean isAtStart = true;

  /**
   * One event.
   *
   * @param type {@code message} if the stream specifies none
   */
  public record Event(String type, byte[] data) {
    public String text() {
      return new String(data, StandardCharsets.UTF_8);
    }
  }

  public SseReader(int maxEvent, Consumer<Event> sink) {
    this.maxEvent = maxEvent;
    this.sink = sink;
  }

  /** The id of the last event that had one; null if none had. */
  public String lastId() {
    return lastId;
  }

  /** The reconnection delay that the server requests, in milliseconds; −1 for none. */
  public long retryMillis() {
    return retryMillis;
  }

  /** The number of buffered bytes of an incomplete event. */
  public int bufferedBytes() {
    return line.size() + data.size();
  }

  /**
   * Parses the next chunk.
   *
   * @throws IllegalStateException if an event exceeds the limit
   */
  public void feed(byte[] chunk) {
    for (byte b : chunk) {
      boolean second = afterReturn && b == '\n';
      afterReturn = b == '\r';
      if (second) {
        continue;
      }
      if (b == '\n' || b == '\r') {
        endLine();
      } else {
        line.write(b);
        if (line.size() + data.size() > maxEvent) {
          throw new IllegalStateException("an event of more than " + maxEvent + " bytes");
        }
      }
    }
  }

  private void endLine() {
    byte[] bytes = line.toByteArray();
    line.reset();
    int start = isAtStart ? ByteOrderMark.length(bytes) : 0;
    isAtStart = false;
    if (bytes.length == start) {
      dispatch();
      return;
    }
    int colon = start;
    while (colon < bytes.length && bytes[colon] != ':') {
      colon++;
    }
    if (colon == start) {
      return;
    }
    String field = new String(bytes, start, colon - start, StandardCharsets.UTF_8);
    int from = Math.min(bytes.length, colon + 1);
    if (from < bytes.length && bytes[from] == ' ') {
      from++;
    }
    if (field.equals("data")) {
      data.write(bytes, from, bytes.length - from);
      data.write('\n');
    } else {
      take(field, new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8));
    }
  }

  private void take(String field, String value) {
    switch (field) {
      case "event" -> type = value;
      case "id" -> lastId = value.indexOf('\0') < 0 ? value : lastId;
      case "retry" -> retryMillis = value.matches("\\d{1,9}") ? Long.parseLong(value) : retryMillis;
      default -> {
        // the standard requires unknown fields to be ignored
      }
    }
  }

  private void dispatch() {
    byte[] bytes = data.toByteArray();
    data.reset();
    String name = type.isEmpty() ? "message" : type;
    type = "";
    if (bytes.length > 1) {
      sink.accept(new Event(name, java.util.Arrays.copyOf(bytes, bytes.length - 1)));
    }
  }
}
