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
 * Writes to a child's stdin without ever making its caller wait.
 *
 * <p>A pipe takes 16 pages, and a write joins the last page or starts a new one, so at least 32 KiB
 * fit however it is cut (pipe(7), "pipe capacity"). While no more than that is unanswered the
 * context writes itself, which saves the thread wake-up that dominates the latency of a single
 * call; beyond it a writer thread takes over, until the child has caught up. What is sent in one
 * turn of the event loop goes out in one write.
 *
 * <p>A process that was frozen writes nothing of what it had begun where it may not act any more:
 * that is asked right before each write, and what may not go waits.
 *
 * <p>Owned by the context; only the queue is shared with the writer thread.
 */
final class StdinPipe {
  private static final int SURELY_FITS = 32 * 1024;
  private static final byte[] CLOSE = new byte[0];
  private static final long LOOK_MILLIS = 10;

  private final Context context;
  private final OutputStream stdin;
  private final String name;
  private final int maxQueued;
  private final Consumer<String> broken;
  private final BooleanSupplier mayAct;
  private final Queue<byte[]> turn = new ArrayDeque<>();
  private final LinkedBlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
  private Thread writer;
  private long sent;
  private long acknowledged;
  private long queued;
  private long turnBytes;
  private boolean flushing;
  private volatile boolean closed;

  /**
   * @param mayAct whether anything may be begun at this moment; asked by any thread
   */
  StdinPipe(
      Context context,
      OutputStream stdin,
      String name,
      int maxQueued,
      BooleanSupplier mayAct,
      Consumer<String> broken) {
    this.mayAct = mayAct;
    this.context = context;
    this.stdin = stdin;
    this.name = name;
    this.maxQueued = maxQueued;
    this.broken = broken;
  }

  /** Refuses with −1 where too much waits for the writer thread. */
  long send(byte[] line) {
    if (closed || queued + turnBytes > maxQueued) {
      return -1;
    }
    turn.add(line);
    sent += line.length;
    turnBytes += line.length;
    if (!flushing) {
      flushing = true;
      context.runOnContext(v -> flush());
    }
    return sent;
  }

  void acknowledge(long position) {
    acknowledged = Math.max(acknowledged, position);
  }

  /** Closes stdin once what was sent is written; a child that does not read does not hold it up. */
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
      context.owner().setTimer(LOOK_MILLIS, t -> flush());
      return;
    }
    flushing = false;
    byte[] bytes = takeTurn();
    if (bytes.length == 0 || closed) {
      return;
    }
    if (queued == 0 && sent - acknowledged <= SURELY_FITS) {
      try {
        write(bytes);
      } catch (IOException e) {
        broken.accept(e.getMessage());
      }
    } else {
      queued += bytes.length;
      queue.add(bytes);
      startWriter();
    }
  }

  private byte[] takeTurn() {
    turnBytes = 0;
    if (turn.size() == 1) {
      return turn.poll();
    }
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    for (byte[] line = turn.poll(); line != null; line = turn.poll()) {
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
          Thread.sleep(LOOK_MILLIS);
        }
        if (!mayAct.getAsBoolean()) {
          break;
        }
        write(bytes);
        int length = bytes.length;
        context.runOnContext(v -> queued -= length);
      }
    } catch (IOException e) {
      context.runOnContext(v -> broken.accept(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closeQuietly();
  }

  private void closeQuietly() {
    try {
      stdin.close();
    } catch (IOException e) {
      // the reader is gone; there is nobody left to tell
    }
  }
}
