package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Decodes the bytes of a server's stdout into messages, one batch per read. An invalid line is
 * skipped and counted; {@link #protocolViolation} reports a server that sends nothing else or an
 * endless line.
 *
 * <p>Owned by the reading thread; the listener is called through the courier.
 */
public final class MessageReader implements LineFramer.Sink {
  private static final int EXCERPT = 256;
  private static final int ENDLESS_FACTOR = 4;
  private static final int MAX_GARBAGE = 100_000;

  private final TransportListener listener;
  private final ContextDispatcher contextDispatcher;
  private final long endlessBytes;
  private final LineFramer framer;
  private final RpcReader reader;
  private final NotificationBudget budget = new NotificationBudget();
  private List<RpcMessage> batch = new ArrayList<>();
  private long batchBytes;
  private int garbage;
  private int dropped;
  private int consecutiveGarbage;

  /** Hands results of the reading thread over to the listener's context. */
  @FunctionalInterface
  public interface ContextDispatcher {
    /**
     * @param bytes number of buffered bytes that the callback refers to
     * @param callback delivers them
     * @param overflowCallback runs instead if there is no memory for that many bytes
     */
    void deliver(long bytes, Runnable callback, Runnable overflowCallback)
        throws InterruptedException;
  }

  public MessageReader(
      StdioTransport.Limits limits,
      TransportListener listener,
      ContextDispatcher contextDispatcher) {
    this.listener = listener;
    this.contextDispatcher = contextDispatcher;
    this.endlessBytes = (long) ENDLESS_FACTOR * limits.maxMessageBytes();
    this.framer = new LineFramer(limits.maxMessageBytes());
    this.reader = new RpcReader(limits.maxDepth());
  }

  /** Processes the next bytes; they are copied. */
  public void feed(byte[] bytes, int length) throws InterruptedException {
    framer.feed(bytes, length, this);
    deliver();
  }

  /** Number of buffered bytes of an incomplete line. */
  public int bufferedBytes() {
    return framer.bufferedBytes();
  }

  /** Why reading must stop, because the server no longer speaks MCP; null while it does. */
  public String protocolViolation() {
    if (framer.skipped() > endlessBytes) {
      return "the process wrote an endless line";
    }
    return consecutiveGarbage > MAX_GARBAGE
        ? "the process wrote " + consecutiveGarbage + " consecutive lines that are not messages"
        : null;
  }

  @Override
  public void line(byte[] bytes, int from, int to) {
    try {
      RpcMessage message = reader.read(bytes, from, to);
      consecutiveGarbage = 0;
      if (message.kind() == RpcMessage.Kind.NOTIFICATION && !budget.tryAcquire()) {
        dropped++;
        return;
      }
      batch.add(message);
      batchBytes += to - from;
    } catch (JsonSyntaxException e) {
      unreadable(bytes, from, to);
    }
  }

  /** Fails the request at once, not at its deadline, if the line starts like its response. */
  private void unreadable(byte[] bytes, int from, int to) {
    byte[] head = Arrays.copyOfRange(bytes, from, Math.min(to, from + EXCERPT));
    String start = new String(head, StandardCharsets.ISO_8859_1);
    boolean isResponse = start.startsWith("{\"jsonrpc\"") && !start.contains("\"method\"");
    long id = isResponse ? RpcReader.findId(head, new byte[0]) : -1;
    if (id < 0) {
      garbage++;
      consecutiveGarbage++;
    } else {
      notifyListener(() -> listener.unreadable(id));
    }
  }

  @Override
  public void oversize(long length, byte[] head, byte[] tail) {
    long id = RpcReader.findId(head, tail);
    notifyListener(() -> listener.oversized(id, length));
  }

  private void deliver() throws InterruptedException {
    if (garbage > 0 || dropped > 0) {
      int lines = garbage;
      int notifications = dropped;
      garbage = dropped = 0;
      notifyListener(() -> reportDropped(lines, notifications));
    }
    if (!batch.isEmpty()) {
      List<RpcMessage> messages = batch;
      long bytes = batchBytes;
      batch = new ArrayList<>();
      batchBytes = 0;
      contextDispatcher.deliver(
          bytes, () -> listener.messages(messages), () -> dropLarge(messages));
    }
  }

  private void notifyListener(Runnable callback) {
    try {
      contextDispatcher.deliver(0, callback, callback);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Drops large responses; everything else is delivered. */
  private void dropLarge(List<RpcMessage> messages) {
    for (RpcMessage message : messages) {
      boolean isResponse =
          message.kind() == RpcMessage.Kind.RESULT || message.kind() == RpcMessage.Kind.ERROR;
      if (isResponse && message.payload().length() >= MemoryBudget.LARGE) {
        listener.lost(message.numericId(), noRoom());
      } else {
        listener.messages(List.of(message));
      }
    }
  }

  private static BridgeException noRoom() {
    return new BridgeException(
            ErrorCode.RESPONSE_TOO_LARGE,
            "The response was dropped: buffered messages have used up the memory limit")
        .withExecuted(Executed.YES);
  }

  private void reportDropped(int lines, int notifications) {
    if (lines > 0) {
      listener.garbage(lines);
    }
    if (notifications > 0) {
      listener.dropped(notifications);
    }
  }
}
