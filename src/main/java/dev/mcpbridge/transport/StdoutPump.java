package dev.mcpbridge.transport;

import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import io.vertx.core.Context;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads a child's stdout to its end: lines, messages, batches. Runs on a thread of its own, ahead
 * of the context by a bounded number of bytes.
 */
final class StdoutPump implements Runnable, LineFramer.Sink {
  private static final int BUFFER = 64 * 1024;
  private static final int ENDS = 256;
  private static final long ALLOWANCE = 4 << 20;
  private static final int ENDLESS = 4;
  private static final int MAX_GARBAGE = 100_000;

  private final Context context;
  private final InputStream stdout;
  private final TransportListener listener;
  private final Consumer<String> ended;
  private final long endless;
  private final LineFramer framer;
  private final RpcReader reader;
  private final ByteBrake brake = new ByteBrake(ALLOWANCE);
  private final NotificationBudget budget = new NotificationBudget();
  private List<RpcMessage> batch = new ArrayList<>();
  private long batchBytes;
  private int garbage;
  private int dropped;
  private int garbageInARow;

  StdoutPump(
      Context context,
      InputStream stdout,
      StdioTransport.Limits limits,
      TransportListener listener,
      Consumer<String> ended) {
    this.context = context;
    this.stdout = stdout;
    this.listener = listener;
    this.ended = ended;
    this.endless = (long) ENDLESS * limits.maxMessageBytes();
    this.framer = new LineFramer(limits.maxMessageBytes());
    this.reader = new RpcReader(limits.maxDepth());
  }

  @Override
  public void run() {
    String reason = null;
    byte[] buffer = new byte[BUFFER];
    try (stdout) {
      for (int n = stdout.read(buffer); n >= 0 && reason == null; n = stdout.read(buffer)) {
        framer.feed(buffer, n, this);
        deliver();
        reason = excess();
      }
    } catch (IOException e) {
      // the process is gone and its pipe with it: the same as its end
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      reason = "a message of the process does not fit into the bridge's memory";
    }
    String why = reason;
    context.runOnContext(v -> ended.accept(why));
  }

  /** A process that has stopped to speak MCP is not read for ever. */
  private String excess() {
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
      context.runOnContext(v -> listener.unreadable(id));
    }
  }

  @Override
  public void oversize(long length, byte[] head, byte[] tail) {
    long id = RpcReader.idIn(head, tail);
    context.runOnContext(v -> listener.oversized(id, length));
  }

  private void deliver() throws InterruptedException {
    if (garbage > 0 || dropped > 0) {
      int lines = garbage;
      int notifications = dropped;
      garbage = dropped = 0;
      context.runOnContext(v -> reportLosses(lines, notifications));
    }
    if (!batch.isEmpty()) {
      List<RpcMessage> messages = batch;
      long bytes = batchBytes;
      batch = new ArrayList<>();
      batchBytes = 0;
      brake.take(bytes);
      context.runOnContext(v -> hand(messages, bytes));
    }
  }

  private void reportLosses(int lines, int notifications) {
    if (lines > 0) {
      listener.garbage(lines);
    }
    if (notifications > 0) {
      listener.dropped(notifications);
    }
  }

  private void hand(List<RpcMessage> messages, long bytes) {
    try {
      listener.messages(messages);
    } finally {
      brake.release(bytes);
    }
  }
}
