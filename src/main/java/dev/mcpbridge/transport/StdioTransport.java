package dev.mcpbridge.transport;

import dev.mcpbridge.config.LimitsConfig;
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
 * A child process that speaks MCP over its stdin and stdout, one message per line (MCP
 * basic/transports, stdio).
 *
 * <p>Threads: one reads stdout, decodes the messages and hands them to the context in batches; one
 * drains stderr; {@link StdinPipe} writes. The context thread never blocks on a pipe.
 *
 * <p>The connection ends when the process exits or closes its stdout, whichever happens first: a
 * grandchild may keep the pipe open, and a process may outlive it. {@link TransportListener#closed}
 * is called at once; {@link #close} completes when the whole process tree has ended.
 */
public final class StdioTransport implements Transport {
  private static final long EOF_GRACE_MILLIS = 1_000;
  private static final long TERM_GRACE_MILLIS = 2_000;
  private static final long OUTPUT_GRACE_MILLIS = 200;

  private final Context context;
  private final TransportListener listener;
  private final ProcessTree tree;
  private final StdinPipe stdin;
  private final StderrLines stderr;
  private final Promise<Void> ended = Promise.promise();
  private final Thread reader;
  private String protocolError;
  private boolean exited;
  private boolean stdoutEnded;
  private boolean stderrEnded;
  private boolean ending;
  private boolean stopRequested;
  private boolean reported;

  /**
   * Limits of a transport.
   *
   * @param maxDepth maximum nesting depth of a message
   * @param memory the memory budget shared by all transports and responses
   */
  public record Limits(int maxMessageBytes, int maxDepth, int maxQueuedBytes, MemoryBudget memory) {

    public static Limits of(LimitsConfig config, MemoryBudget memory) {
      int message = config.messageBytes();
      return new Limits(message, config.depth() + 10, 2 * message, memory);
    }
  }

  private StdioTransport(
      Context context,
      TransportListener listener,
      ProcessTree tree,
      String name,
      Limits limits,
      ServerLog log,
      BooleanSupplier mayAct) {
    this.context = context;
    this.listener = listener;
    this.tree = tree;
    Process process = tree.process();
    this.stdin =
        new StdinPipe(
            context,
            process.getOutputStream(),
            name,
            limits.maxQueuedBytes(),
            mayAct,
            this::onWriteError);
    this.stderr = new StderrLines(log, process.pid());
    this.reader =
        daemon(
            "mcp-" + name + "-out",
            new StdoutPump(context, process.getInputStream(), limits, listener, this::onStdoutEnd));
    daemon(
            "mcp-" + name + "-err",
            new StderrReader(
                process.getErrorStream(), stderr, () -> context.runOnContext(v -> onStderrEnd())))
        .start();
  }

  /**
   * Starts the process. Fails with START_FAILED and the reason if that is not possible.
   *
   * @param context the caller's context, on which the listener is called
   * @param name used in thread names
   * @param log for what it writes to stderr
   * @param mayAct whether anything may be sent at this moment; called on any thread
   */
  public static Future<Transport> start(
      Context context,
      ProcessTarget processTarget,
      String name,
      Limits limits,
      ServerLog log,
      BooleanSupplier mayAct,
      TransportListener listener) {
    Promise<Transport> started = Promise.promise();
    daemon(
            "mcp-" + name + "-start",
            () -> {
              try {
                ProcessTree tree = ProcessTree.start(processTarget);
                context.runOnContext(
                    v ->
                        started.complete(open(context, listener, tree, name, limits, log, mayAct)));
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
      ServerLog log,
      BooleanSupplier mayAct) {
    StdioTransport transport =
        new StdioTransport(context, listener, tree, name, limits, log, mayAct);
    transport.reader.start();
    tree.process().onExit().thenRun(() -> context.runOnContext(v -> transport.onExit()));
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
  public String lastStderrLine() {
    return stderr.lastLine();
  }

  @Override
  public Future<Void> close() {
    stopRequested = true;
    end(EOF_GRACE_MILLIS);
    return ended.future();
  }

  /** The exit may overtake the last output in the pipe, so the readers get a moment to finish. */
  private void onExit() {
    exited = true;
    endAfterOutput();
  }

  private void onStderrEnd() {
    stderrEnded = true;
    if (exited && stdoutEnded) {
      end(0);
    }
  }

  /**
   * @param error why reading was stopped; null at the end of the stream
   */
  private void onStdoutEnd(String error) {
    stdoutEnded = true;
    if (error == null) {
      endAfterOutput();
    } else {
      protocolError = error;
      end(0);
    }
  }

  private void endAfterOutput() {
    if (exited && stdoutEnded && stderrEnded) {
      end(0);
    } else {
      context.owner().setTimer(OUTPUT_GRACE_MILLIS, t -> end(0));
    }
  }

  private void onWriteError(String reason) {
    context.owner().setTimer(OUTPUT_GRACE_MILLIS, t -> end(0));
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
      tree.scanMembers();
      context.runOnContext(v -> stdin.close());
      tree.end(eofGraceMillis, TERM_GRACE_MILLIS);
      reader.join(OUTPUT_GRACE_MILLIS);
      reader.interrupt();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    context.runOnContext(v -> onTreeEnded());
  }

  private void onTreeEnded() {
    report("stopped");
    ended.tryComplete();
  }

  private void report(String reason) {
    if (!reported) {
      reported = true;
      listener.closed(reason);
    }
  }

  private String reason() {
    if (protocolError != null) {
      return protocolError;
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
