package dev.mcpbridge.transport;

import io.vertx.core.Context;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Writes to a child's stdin without ever blocking the caller.
 *
 * <p>A pipe holds 16 pages, and a write joins the last page or starts a new one, so at least 32 KiB
 * fit whatever the write sizes are (pipe(7), "pipe capacity"). While no more than that is
 * unacknowledged, the context thread writes directly, which saves the thread wake-up that dominates
 * the latency of a single call; beyond it, a writer thread takes over until the child has caught
 * up. Messages sent in one turn of the event loop go out in one write.
 *
 * <p>{@code mayAct} is checked right before each write, so that a node that was frozen and has lost
 * its lease does not write messages that it had begun; such messages wait.
 *
 * <p>Owned by the context; only the queue is shared with the writer thread.
 */
final class StdinPipe {
  private static final int SURELY_FITS = 32 * 1024;
  private static final byte[] CLOSE = new byte[0];
  private static final long POLL_MILLIS = 10;

  private final Context context;
  private final OutputStream stdin;
  private final String name;
  private final int maxQueued;
  private final Consumer<String> onError;
  private final BooleanSupplier mayAct;
  private final Queue<byte[]> batch = new ArrayDeque<>();
  private final LinkedBlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
  private Thread writer;
  private long sentPosition;
  private long acknowledgedPosition;
  private long queued;
  private long batchBytes;
  private boolean flushing;
  private volatile boolean closed;

  /**
   * @param mayAct whether anything may be written at this moment; called on any thread
   * @param onError called on the context with the error of a failed write
   */
  StdinPipe(
      Context context,
      OutputStream stdin,
      String name,
      int maxQueued,
      BooleanSupplier mayAct,
      Consumer<String> onError) {
    this.mayAct = mayAct;
    this.context = context;
    this.stdin = stdin;
    this.name = name;
    this.maxQueued = maxQueued;
    this.onError = onError;
  }

  /** Queues a message; returns its end position, or −1 if the queue is full or closed. */
  long send(byte[] line) {
    if (closed || queued + batchBytes > maxQueued) {
      return -1;
    }
    batch.add(line);
    sentPosition += line.length;
    batchBytes += line.length;
    if (!flushing) {
      flushing = true;
      context.runOnContext(v -> flush());
    }
    return sentPosition;
  }

  void acknowledge(long position) {
    acknowledgedPosition = Math.max(acknowledgedPosition, position);
  }

  /** Closes stdin after the queued messages are written; never blocks, even if no one reads. */
  void close() {
    if (closed) {
      return;
    }
    if (mayAct.getAsBoolean()) {
      flush();
    }
    closed = true;
    if (writer != null) {
      queue.add(CLOSE);
    } else {
      closeQuietly();
    }
  }

  private void flush() {
    if (!mayAct.getAsBoolean() && !closed) {
      context.owner().setTimer(POLL_MILLIS, t -> flush());
      return;
    }
    flushing = false;
    byte[] bytes = takeBatch();
    if (bytes.length == 0 || closed) {
      return;
    }
    if (queued == 0 && sentPosition - acknowledgedPosition <= SURELY_FITS) {
      try {
        write(bytes);
      } catch (IOException e) {
        onError.accept(e.getMessage());
      }
    } else {
      queued += bytes.length;
      queue.add(bytes);
      startWriter();
    }
  }

  private byte[] takeBatch() {
    batchBytes = 0;
    if (batch.size() == 1) {
      return batch.poll();
    }
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    for (byte[] line = batch.poll(); line != null; line = batch.poll()) {
      joined.writeBytes(line);
    }
    return joined.toByteArray();
  }

  private void write(byte[] bytes) throws IOException {
    stdin.write(bytes);
    stdin.flush();
  }

  private void startWriter() {
    if (writer == null) {
      writer = new Thread(null, this::drain, "mcp-" + name + "-in", 128 * 1024);
      writer.setDaemon(true);
      writer.start();
    }
  }

  private void drain() {
    try {
      for (byte[] bytes = queue.take(); bytes != CLOSE; bytes = queue.take()) {
        while (!mayAct.getAsBoolean() && !closed) {
          Thread.sleep(POLL_MILLIS);
        }
        if (!mayAct.getAsBoolean()) {
          break;
        }
        write(bytes);
        int length = bytes.length;
        context.runOnContext(v -> queued -= length);
      }
    } catch (IOException e) {
      context.runOnContext(v -> onError.accept(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closeQuietly();
  }

  private void closeQuietly() {
    try {
      stdin.close();
    } catch (IOException e) {
      // the reader is gone; the error has no consequence
    }
  }
}
