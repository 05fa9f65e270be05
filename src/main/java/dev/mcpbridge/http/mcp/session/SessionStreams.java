package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.EventBudget;
import dev.mcpbridge.http.mcp.reply.MessageStream;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.protocol.JsonSlice;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The streams of a session, which the client may resume: one for each of its requests that needs
 * one, and one for messages that belong to no request.
 */
final class SessionStreams {
  private static final Pattern EVENT_ID = Pattern.compile("(\\d{1,18})-(\\d{1,18})");

  private final EventBudget budget;
  private final boolean marks;
  private final Map<Long, MessageStream> streams = new HashMap<>();
  private MessageStream listenStream;

  /** Begins anywhere, so that no stream of the session at another node has the same name. */
  private long count = new SecureRandom().nextInt(Integer.MAX_VALUE) * 100_000_000L;

  private boolean isOver;

  /**
   * @param marks whether the client accepts an event with only an id
   */
  SessionStreams(EventBudget budget, boolean marks) {
    this.budget = budget;
    this.marks = marks;
  }

  /** Begins a stream that the client may resume over another connection. */
  MessageStream begin(EventStream opened) {
    if (isOver) {
      return MessageStream.on(opened);
    }
    long name = ++count;
    MessageStream stream = MessageStream.kept(name, budget, () -> streams.remove(name));
    streams.put(name, stream);
    stream.connect(opened);
    return marks ? stream.mark() : stream;
  }

  /** Sets the stream for messages that belong to no request; ends the previous one. */
  void listen(MessageStream opened) {
    MessageStream previous = listenStream;
    listenStream = opened;
    if (previous != null) {
      previous.end();
    }
  }

  boolean isListening() {
    return listenStream != null && listenStream.isConnected();
  }

  /** Sends a message that belongs to no request; false if its stream was not opened here. */
  boolean send(JsonSlice message) {
    if (listenStream == null) {
      return false;
    }
    listenStream.send(message);
    return true;
  }

  /**
   * Finds a stream to resume.
   *
   * @param lastEventId id of the last event that the client received
   * @return resumes the stream over a connection
   * @throws BridgeException MALFORMED_REQUEST if the stream does not exist or has ended
   */
  Consumer<EventStream> resume(String lastEventId) {
    Matcher id = EVENT_ID.matcher(lastEventId);
    MessageStream stream = id.matches() ? streams.get(Long.parseLong(id.group(1))) : null;
    if (stream == null) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST,
          "The Last-Event-ID is invalid, or its stream is over or began at another node");
    }
    long after = Long.parseLong(id.group(2));
    return opened -> stream.resume(opened, after);
  }

  /** Drops ended streams that the client has not resumed since. */
  void forget(long sinceNanos) {
    List.copyOf(streams.values()).stream()
        .filter(stream -> stream.isOverSince(sinceNanos))
        .forEach(MessageStream::end);
  }

  void end() {
    isOver = true;
    if (listenStream != null) {
      listenStream.end();
    }
    List.copyOf(streams.values()).forEach(MessageStream::end);
  }
}
