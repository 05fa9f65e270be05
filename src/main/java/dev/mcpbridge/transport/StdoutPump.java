package dev.mcpbridge.transport;

import io.vertx.core.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * Reads a child's stdout to its end. Runs on a thread of its own, ahead of the context by a bounded
 * number of bytes.
 */
final class StdoutPump implements Runnable {
  private static final int BUFFER = 64 * 1024;
  private static final long ALLOWANCE = 4 << 20;

  private final Context context;
  private final InputStream stdout;
  private final Consumer<String> ended;
  private final MessageReader reader;
  private final ByteBrake brake = new ByteBrake(ALLOWANCE);

  StdoutPump(
      Context context,
      InputStream stdout,
      StdioTransport.Limits limits,
      TransportListener listener,
      Consumer<String> ended) {
    this.context = context;
    this.stdout = stdout;
    this.ended = ended;
    this.reader = new MessageReader(limits, listener, this::deliver);
  }

  @Override
  public void run() {
    String reason = null;
    byte[] buffer = new byte[BUFFER];
    try (stdout) {
      for (int n = stdout.read(buffer); n >= 0 && reason == null; n = stdout.read(buffer)) {
        reader.feed(buffer, n);
        reason = reader.excess();
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

  private void deliver(long bytes, Runnable news) throws InterruptedException {
    if (bytes > 0) {
      brake.take(bytes);
    }
    context.runOnContext(v -> hand(bytes, news));
  }

  private void hand(long bytes, Runnable news) {
    try {
      news.run();
    } finally {
      if (bytes > 0) {
        brake.release(bytes);
      }
    }
  }
}
