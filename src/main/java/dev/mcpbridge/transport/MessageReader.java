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
 * Bytes of a server's stdout to messages in batches: one batch for what one read brought. Garbage
 * costs its line; a server that sends nothing else, or a line without end, is told by {@link
 * #excess}.
 *
 * <p>Owned by whoever reads; what it found reaches the listener through the courier.
 */
public final class MessageReader implements LineFramer.Sink {
  private static final int ENDS = 256;
  private static final int ENDLESS = 4;
  private static final int MAX_GARBAGE = 100_000;

  private final TransportListener listener;
  private final Courier courier;
  private final long endless;
  private final LineFramer framer;
  private final RpcReader reader;
  private final NotificationBudget budget = new NotificationBudget();
  private List<RpcMessage> batch = new ArrayList<>();
  private long batchBytes;
  private int garbage;
  private int dropped;
  private int garbageInARow;

  /** Takes what was read to the listener's context. */
  @FunctionalInterface
  public interface Courier {
    /**
     * @param bytes that wait with it
     * @param news what is said there
     * @param loss what is said instead where there is no memory for so many bytes
     */
    void deliver(long bytes, Runnable news, Runnable loss) throws InterruptedException;
  }

  public MessageReader(StdioTransport.Limits limits, TransportListener listener, Courier courier) {
    this.listener = listener;
    this.courier = courier;
    this.endless = (long) ENDLESS * limits.maxMessageBytes();
    this.framer = new LineFramer(limits.maxMessageBytes());
    this.reader = new RpcReader(limits.maxDepth());
  }

  /** Takes the next bytes; they are copied. */
  public void feed(byte[] bytes, int length) throws InterruptedException {
    framer.feed(bytes, length, this);
    deliver();
  }

  /** Bytes that wait for the end of their line. */
  public int held() {
    return framer.held();
  }

  /** Why a server that has stopped to speak MCP is not read any further; null while it speaks. */
  public String excess() {
    if (framer.skipped() > endless) {
      return "the process wrote a line without end";
    }
    return garbageInARow > MAX_GARBAGE
        ? "the process wrote " + garbageInARow + " lines in a row that are no messages"
        : null;
  }

  @Override
  public void line(byte[] bytes, int from, int to) {
    try {
      RpcMessage message = reader.read(bytes, from, to);
      garbageInARow = 0;
      if (message.kind() == RpcMessage.Kind.NOTIFICATION && !budget.spend()) {
        dropped++;
        return;
      }
      batch.add(message);
      batchBytes += to - from;
    } catch (JsonSyntaxException e) {
      unreadable(bytes, from, to);
    }
  }

  /** What begins like an answer of ours fails its call now and not at its deadline. */
  private void unreadable(byte[] bytes, int from, int to) {
    byte[] head = Arrays.copyOfRange(bytes, from, Math.min(to, from + ENDS));
    String start = new String(head, StandardCharsets.ISO_8859_1);
    boolean answer = start.startsWith("{\"jsonrpc\"") && !start.contains("\"method\"");
    long id = answer ? RpcReader.idIn(head, new byte[0]) : -1;
    if (id < 0) {
      garbage++;
      garbageInARow++;
    } else {
      tell(() -> listener.unreadable(id));
    }
  }

  @Override
  public void oversize(long length, byte[] head, byte[] tail) {
    long id = RpcReader.idIn(head, tail);
    tell(() -> listener.oversized(id, length));
  }

  private void deliver() throws InterruptedException {
    if (garbage > 0 || dropped > 0) {
      int lines = garbage;
      int notifications = dropped;
      garbage = dropped = 0;
      tell(() -> reportLosses(lines, notifications));
    }
    if (!batch.isEmpty()) {
      List<RpcMessage> messages = batch;
      long bytes = batchBytes;
      batch = new ArrayList<>();
      batchBytes = 0;
      courier.deliver(bytes, () -> listener.messages(messages), () -> lose(messages));
    }
  }

  private void tell(Runnable news) {
    try {
      courier.deliver(0, news, news);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Large answers are not kept. */
  private void lose(List<RpcMessage> messages) {
    for (RpcMessage message : messages) {
      boolean isAnswer =
          message.kind() == RpcMessage.Kind.RESULT || message.kind() == RpcMessage.Kind.ERROR;
      if (isAnswer && message.payload().length() >= MemoryBudget.LARGE) {
        listener.lost(message.numericId(), noRoom());
      } else {
        listener.messages(List.of(message));
      }
    }
  }

  private static BridgeException noRoom() {
    return new BridgeException(
            ErrorCode.RESPONSE_TOO_LARGE,
            "The answer was dropped: so many others are on their way that there is no memory for it")
        .withExecuted(Executed.YES);
  }

  private void reportLosses(int lines, int notifications) {
    if (lines > 0) {
      listener.garbage(lines);
    }
    if (notifications > 0) {
      listener.dropped(notifications);
    }
  }
}
