package dev.mcpbridge.transport;

import dev.mcpbridge.config.ProcessTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * A child process that speaks MCP over its stdin and stdout, one message a line (MCP
 * basic/transports, stdio).
 *
 * <p>Threads: one reads stdout, takes the messages apart and hands them to the context in batches;
 * one drains stderr; {@link StdinPipe} writes. The context itself never waits for a pipe.
 *
 * <p>The connection is over when the process has exited or stdout was closed, whichever comes
 * first: a grandchild may keep the pipe open, and a process may outlive it. {@link
 * TransportListener#closed} is called at once; {@link #close} completes when the whole tree is
 * gone.
 */
public final class StdioTransport implements Transport {
  private static final long EOF_GRACE_MILLIS = 1_000;
  private static final long TERM_GRACE_MILLIS = 2_000;
  private static final long LAST_WORDS_MILLIS = 200;

  private final Context context;
  private final TransportListener listener;
  private final ProcessTree tree;
  private final StdinPipe stdin;
  private final StderrTail stderr;
  private final Promise<Void> gone = Promise.promise();
  private final Thread reader;
  private String misbehaviour;
  private boolean hasExited;
  private boolean hasEnded;
  private boolean hasSaidAll;
  private boolean ending;
  private boolean stopRequested;
  private boolean reported;

  /**
   * What a transport may hold and how deep a message may be nested.
   *
   * @param memory that it shares with everything else
   */
  public record Limits(
      int maxMessageBytes, int maxDepth, int maxQueuedBytes, MemoryBudget memory) {}

  private StdioTransport(
      Context context,
      TransportListener listener,
      ProcessTree tree,
      String name,
      Limits limits,
      BooleanSupplier mayAct) {
    this.context = context;
    this.listener = listener;
    this.tree = tree;
    Process process = tree.process();
    this.stdin =
        new StdinPipe(
            context, process.getOutputStream(), name, limits.maxQueuedBytes(), mayAct, this::cut);
    this.stderr =
        new StderrTail(process.getErrorStream(), () -> context.runOnContext(v -> stderrEnded()));
    this.reader =
        daemon(
            "mcp-" + name + "-out",
            new StdoutPump(context, process.getInputStream(), limits, listener, this::stdoutEnded));
    daemon("mcp-" + name + "-err", stderr).start();
  }

  /**
   * Starts the process. Fails with START_FAILED and the reason where there is nothing to start.
   *
   * @param context where the listener is called; the caller's own
   * @param name for thread names
   * @param mayAct whether anything may be sent at this moment; asked by any thread
   */
  public static Future<Transport> start(
      Context context,
      ProcessTarget processTarget,
      String name,
      Limits limits,
      BooleanSupplier mayAct,
      TransportListener listener) {
    Promise<Transport> started = Promise.promise();
    daemon(
            "mcp-" + name + "-start",
            () -> {
              try {
                ProcessTree tree = ProcessTree.start(processTarget);
                context.runOnContext(
                    v -> started.complete(open(context, listener, tree, name, limits, mayAct)));
              } catch (IOException | RuntimeException e) {
                context.runOnContext(v -> started.fail(failure(e)));
              }
            })
        .start();
    return started.future();
  }

  private static Transport open(
      Context context,
      TransportListener listener,
      ProcessTree tree,
      String name,
      Limits limits,
      BooleanSupplier mayAct) {
    StdioTransport transport = new StdioTransport(context, listener, tree, name, limits, mayAct);
    transport.reader.start();
    tree.process().onExit().thenRun(() -> context.runOnContext(v -> transport.exited()));
    return transport;
  }

  private static BridgeException failure(Exception e) {
    return new BridgeException(
        ErrorCode.START_FAILED, "The server could not be started: " + e.getMessage());
  }

  @Override
  public long send(byte[] line) {
    return stopRequested ? -1 : stdin.send(line);
  }

  @Override
  public void acknowledge(long position) {
    stdin.acknowledge(position);
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.of(tree.process().pid());
  }

  @Override
  public String lastWords() {
    return stderr.lastLine();
  }

  @Override
  public Future<Void> close() {
    stopRequested = true;
    end(EOF_GRACE_MILLIS);
    return gone.future();
  }

  /** The exit may overtake the last words in the pipe, so the reader gets a moment to finish. */
  private void exited() {
    hasExited = true;
    endOnceAllIsOver();
  }

  private void stderrEnded() {
    hasSaidAll = true;
    if (hasExited && hasEnded) {
      end(0);
    }
  }

  /**
   * @param broken why it is not read any further; null where it came to its end
   */
  private void stdoutEnded(String broken) {
    hasEnded = true;
    if (broken == null) {
      endOnceAllIsOver();
    } else {
      misbehaviour = broken;
      end(0);
    }
  }

  private void endOnceAllIsOver() {
    if (hasExited && hasEnded && hasSaidAll) {
      end(0);
    } else {
      context.owner().setTimer(LAST_WORDS_MILLIS, t -> end(0));
    }
  }

  private void cut(String reason) {
    context.owner().setTimer(LAST_WORDS_MILLIS, t -> end(0));
  }

  private void end(long eofGraceMillis) {
    if (ending) {
      return;
    }
    ending = true;
    if (!stopRequested) {
      report(reason());
    }
    daemon("mcp-end-" + tree.process().pid(), () -> endTree(eofGraceMillis)).start();
  }

  private void endTree(long eofGraceMillis) {
    try {
      tree.look();
      context.runOnContext(v -> stdin.close());
      tree.end(eofGraceMillis, TERM_GRACE_MILLIS);
      reader.join(LAST_WORDS_MILLIS);
      reader.interrupt();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    context.runOnContext(v -> finish());
  }

  private void finish() {
    report("stopped");
    gone.tryComplete();
  }

  private void report(String reason) {
    if (!reported) {
      reported = true;
      listener.closed(reason);
    }
  }

  private String reason() {
    if (misbehaviour != null) {
      return misbehaviour;
    }
    Process process = tree.process();
    if (process.isAlive()) {
      return "the process closed its stdout";
    }
    return exit(process.exitValue());
  }

  private static String exit(int status) {
    return status > 128 && status < 160
        ? "the process was ended by signal " + (status - 128)
        : "the process exited with status " + status;
  }

  private static Thread daemon(String name, Runnable task) {
    Thread thread = new Thread(null, task, name, 256 * 1024);
    thread.setDaemon(true);
    return thread;
  }
}
