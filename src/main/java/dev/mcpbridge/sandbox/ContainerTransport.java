package dev.mcpbridge.sandbox;

import dev.mcpbridge.transport.MessageReader;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StderrLines;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetSocket;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Transport to a server in a container: stdin and stdout over the engine's socket, one message per
 * line. The connection ends with the stream; then the exit state of the container is queried, and
 * the container is removed. Confined to its context.
 */
final class ContainerTransport implements Transport {
  private static final Logger LOG = System.getLogger(ContainerTransport.class.getName());
  private final ContainerEngine containerEngine;
  private final ContainerEngine.Image image;
  private final String id;
  private final int maxQueued;
  private final TransportListener listener;
  private final MessageReader reader;
  private final StderrLines stderr;
  private final Promise<Void> closePromise = Promise.promise();
  private NetSocket socket;
  private ContainerEngine.End end;
  private long queued;
  private boolean ending;

  ContainerTransport(
      ContainerEngine containerEngine,
      ContainerEngine.Image image,
      String id,
      StdioTransport.Limits limits,
      ServerLog log,
      TransportListener listener) {
    this.containerEngine = containerEngine;
    this.image = image;
    this.id = id;
    this.maxQueued = limits.maxQueuedBytes();
    this.stderr = new StderrLines(log, 0);
    this.listener = listener;
    this.reader =
        new MessageReader(limits, listener, (bytes, callback, overflow) -> callback.run());
  }

  /** Sets the attached stream. */
  void over(NetSocket attached) {
    socket = attached;
  }

  String id() {
    return id;
  }

  /** Whether the container has ended or is being removed. */
  boolean isEnding() {
    return ending;
  }

  ContainerEngine.Image image() {
    return image;
  }

  /** How the container ended; null while it is running, or if the state is unknown. */
  ContainerEngine.End end() {
    return end;
  }

  @Override
  public String lastStderrLine() {
    return stderr.lastLine();
  }

  @Override
  public long send(byte[] line) {
    if (ending || queued > maxQueued) {
      return -1;
    }
    queued += line.length;
    socket.write(Buffer.buffer(line)).onComplete(done -> queued -= line.length);
    return 0;
  }

  /** Stops the server gracefully, like a local process. */
  @Override
  public Future<Void> close() {
    return close(containerEngine::stop);
  }

  /** Kills the container; it is never used again. */
  Future<Void> discard() {
    return close(containerEngine::remove);
  }

  private Future<Void> close(Function<String, Future<Boolean>> removal) {
    if (!ending) {
      ending = true;
      removal
          .apply(id)
          .onComplete(
              removed -> {
                closeSocket();
                listener.closed("stopped");
                closePromise.tryComplete();
              });
    }
    return closePromise.future();
  }

  void stdout(byte[] bytes) {
    if (ending) {
      return;
    }
    try {
      reader.feed(bytes, bytes.length);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    String excess = reader.protocolViolation();
    if (excess != null && !ending) {
      ended(excess);
    }
  }

  void stderr(byte[] bytes) {
    stderr.feed(bytes, bytes.length);
  }

  void closed() {
    if (!ending) {
      ended(null);
    }
  }

  /**
   * @param reason null to derive it from the exit state of the container
   */
  private void ended(String reason) {
    ending = true;
    containerEngine
        .end(id)
        .onSuccess(exit -> end = exit)
        .timeout(5, TimeUnit.SECONDS)
        .transform(
            done -> {
              String closeReason = reason != null ? reason : reason(done.succeeded());
              LOG.log(
                  Level.INFO,
                  "container ended: id={0} reason={1} stderr={2}",
                  id,
                  closeReason,
                  lastStderrLine());
              listener.closed(closeReason);
              return containerEngine.remove(id);
            })
        .onComplete(
            removed -> {
              closeSocket();
              closePromise.tryComplete();
            });
  }

  private void closeSocket() {
    if (socket != null) {
      socket.close();
    }
  }

  private String reason(boolean isExitKnown) {
    if (!isExitKnown) {
      return "the container engine no longer responds";
    }
    if (end.outOfMemory()) {
      return "the container ran out of memory";
    }
    return "the container exited with status " + end.exitCode();
  }
}
