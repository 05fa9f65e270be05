package dev.mcpbridge.http.mcp;

import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The messages of one event stream. A stream of a session gives each an id and keeps the last of
 * them, so that a client whose connection broke comes back for what it missed (2025-11-25
 * basic/transports, resumability); elsewhere a stream is over with its connection.
 *
 * <p>Kept are 256 messages or 1 MiB, at least the last one, within the budget of all.
 */
final class MessageStream {
  private static final int MAX_EVENTS = 256;
  private static final int MAX_BYTES = 1 << 20;

  private final String name;
  private final EventBudget budget;
  private final Runnable forgotten;
  private Deque<Event> kept;
  private EventStream connection;
  private long last;
  private int bytes;
  private long overSinceNanos;
  private boolean over;

  private record Event(long number, JsonSlice message) {}

  private MessageStream(String name, EventBudget budget, Runnable forgotten) {
    this.name = name;
    this.budget = budget;
    this.forgotten = forgotten;
  }

  /** One that lives as long as its connection. */
  static MessageStream on(EventStream connection) {
    MessageStream stream = new MessageStream(null, null, () -> {});
    stream.connect(connection);
    return stream;
  }

  /**
   * One that a client can come back to, not connected yet.
   *
   * @param name within its session
   * @param forgotten runs when there is nothing more to come back for
   */
  static MessageStream kept(long name, EventBudget budget, Runnable forgotten) {
    return new MessageStream(Long.toString(name), budget, forgotten);
  }

  boolean isConnected() {
    return connection != null;
  }

  boolean isOverSince(long nanos) {
    return over && overSinceNanos - nanos < 0;
  }

  /** Goes on over this connection; one that it had ends. */
  MessageStream connect(EventStream opened) {
    EventStream before = connection;
    connection = opened;
    if (before != null) {
      before.end();
    }
    opened.onClose(
        () -> {
          if (connection == opened) {
            connection = null;
          }
        });
    return this;
  }

  /** An id before the first message (2025-11-25), for a client that takes one without data. */
  MessageStream mark() {
    connection.mark(id(last));
    return this;
  }

  /** Sends again what came after a message, and goes on from there. */
  void resume(EventStream opened, long after) {
    connect(opened);
    if (kept != null) {
      kept.stream().filter(event -> event.number() > after).toList().forEach(this::pass);
    }
    if (over) {
      finish();
    }
  }

  /** Whether it was sent, or is kept until the client comes back. */
  boolean send(JsonSlice message) {
    if (over || name == null && connection == null) {
      return false;
    }
    Event event = new Event(++last, message);
    keep(event);
    if (connection != null) {
      pass(event);
    }
    return true;
  }

  /** Sends the last message. */
  void finish(JsonSlice message) {
    if (send(message)) {
      over = true;
      overSinceNanos = System.nanoTime();
      finish();
    }
  }

  /** Drops whatever is kept, and the connection. */
  void end() {
    over = true;
    if (connection != null) {
      connection.end();
    }
    forget();
  }

  private void finish() {
    if (connection != null) {
      connection.end().onSuccess(sent -> forget());
    }
  }

  private void pass(Event event) {
    if (name == null) {
      connection.send("message", event.message());
    } else {
      connection.send(id(event.number()), "message", event.message());
    }
  }

  private void keep(Event event) {
    if (name == null) {
      return;
    }
    if (kept == null) {
      kept = new ArrayDeque<>();
    }
    int length = event.message().length();
    while (!kept.isEmpty() && (kept.size() >= MAX_EVENTS || bytes + length > MAX_BYTES)) {
      drop();
    }
    if (budget.take(length)) {
      kept.add(event);
      bytes += length;
    }
  }

  private void drop() {
    int length = kept.poll().message().length();
    bytes -= length;
    budget.giveBack(length);
  }

  private void forget() {
    if (kept != null) {
      while (!kept.isEmpty()) {
        drop();
      }
    }
    forgotten.run();
  }

  private String id(long number) {
    return name + "-" + number;
  }
}
