package dev.mcpbridge.http.mcp.reply;

import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The messages of one event stream. A stream of a session numbers its messages and buffers the last
 * ones, so that a client can resume it after a lost connection (2025-11-25 basic/transports,
 * resumability). Any other stream ends with its connection.
 *
 * <p>Buffers up to 256 messages or 1 MiB, but always the last message, within the shared budget.
 */
public final class MessageStream {
  private static final int MAX_EVENTS = 256;
  private static final int MAX_BYTES = 1 << 20;

  private final String name;
  private final EventBudget budget;
  private final Runnable onCleared;
  private final Deque<Event> buffer = new ArrayDeque<>(1);
  private EventStream connection;
  private long lastNumber;
  private int storedBytes;
  private long overNanos;
  private boolean isOver;

  private record Event(long number, JsonSlice message, boolean hasSecret) {}

  private MessageStream(String name, EventBudget budget, Runnable onCleared) {
    this.name = name;
    this.budget = budget;
    this.onCleared = onCleared;
  }

  /** A stream that ends with its connection. */
  public static MessageStream on(EventStream connection) {
    MessageStream stream = new MessageStream(null, null, () -> {});
    stream.connect(connection);
    return stream;
  }

  /**
   * A resumable stream, not yet connected.
   *
   * @param name within its session
   * @param onCleared runs when there is nothing left to resume
   */
  public static MessageStream kept(long name, EventBudget budget, Runnable onCleared) {
    return new MessageStream(Long.toString(name), budget, onCleared);
  }

  public boolean isConnected() {
    return connection != null;
  }

  public boolean isOverSince(long nanos) {
    return isOver && overNanos - nanos < 0;
  }

  /** Continues over this connection; ends the previous one. */
  public MessageStream connect(EventStream opened) {
    EventStream previous = connection;
    connection = opened;
    if (previous != null) {
      previous.end();
    }
    opened.onClose(
        () -> {
          if (connection == opened) {
            connection = null;
          }
        });
    return this;
  }

  /** Sends an id before the first message (2025-11-25), for clients that accept it without data. */
  public MessageStream mark() {
    connection.mark(id(lastNumber));
    return this;
  }

  /** Replays the messages after the given one, and continues. */
  public void resume(EventStream opened, long after) {
    connect(opened);
    buffer.stream().filter(event -> event.number() > after).toList().forEach(this::write);
    if (isOver) {
      finish();
    }
  }

  /** Sends or buffers a message; false if the stream is over. */
  public boolean send(JsonSlice message) {
    return send(message, false);
  }

  /**
   * Sends or buffers a message; false if the stream is over.
   *
   * @param hasSecret whether it may have a secret
   */
  public boolean send(JsonSlice message, boolean hasSecret) {
    if (isOver || name == null && connection == null) {
      return false;
    }
    Event event = new Event(++lastNumber, message, hasSecret);
    store(event);
    if (connection != null) {
      write(event);
    }
    return true;
  }

  /** Sends the last message and ends the stream. */
  void finish(JsonSlice message, boolean hasSecret) {
    if (send(message, hasSecret)) {
      isOver = true;
      overNanos = System.nanoTime();
      finish();
    }
  }

  /** Drops the buffered messages and the connection. */
  public void end() {
    isOver = true;
    if (connection != null) {
      connection.end();
    }
    clear();
  }

  private void finish() {
    if (connection != null) {
      connection.end().onSuccess(sent -> clear());
    }
  }

  private void write(Event event) {
    if (name != null) {
      connection.send(id(event.number()), "message", event.message(), event.hasSecret());
    } else if (event.hasSecret()) {
      connection.sendSecret("message", event.message());
    } else {
      connection.send("message", event.message());
    }
  }

  private void store(Event event) {
    if (name == null) {
      return;
    }
    int length = event.message().length();
    while (!buffer.isEmpty() && (buffer.size() >= MAX_EVENTS || storedBytes + length > MAX_BYTES)) {
      evictOldest();
    }
    if (budget.tryReserve(length)) {
      buffer.add(event);
      storedBytes += length;
    }
  }

  private void evictOldest() {
    int length = buffer.poll().message().length();
    storedBytes -= length;
    budget.release(length);
  }

  private void clear() {
    while (!buffer.isEmpty()) {
      evictOldest();
    }
    onCleared.run();
  }

  private String id(long number) {
    return name + "-" + number;
  }
}
