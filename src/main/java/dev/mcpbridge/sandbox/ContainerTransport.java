package dev.mcpbridge.sandbox;

import dev.mcpbridge.transport.MessageReader;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetSocket;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A server in a container: its stdin and stdout over the engine's socket, one message a line. Over
 * when the stream is, whatever was the reason; then it is asked how the container ended, and it is
 * removed. Confined to its context.
 */
final class ContainerTransport
    implements Transport, DockerFrameReader.Sink, Attachment.StreamReader {
  private static final Logger LOG = System.getLogger(ContainerTransport.class.getName());
  private static final int LAST_WORDS = 500;

  private final ContainerEngine containerEngine;
  private final ContainerEngine.Image image;
  private final String id;
  private final int maxQueued;
  private final TransportListener listener;
  private final MessageReader reader;
  private final DockerFrameReader dockerFrameReader = new DockerFrameReader(this);
  private final StringBuilder words = new StringBuilder();
  private final Promise<Void> gone = Promise.promise();
  private NetSocket socket;
  private ContainerEngine.End end;
  private long queued;
  private boolean ending;

  ContainerTransport(
      ContainerEngine containerEngine,
      ContainerEngine.Image image,
      String id,
      StdioTransport.Limits limits,
      TransportListener listener) {
    this.containerEngine = containerEngine;
    this.image = image;
    this.id = id;
    this.maxQueued = limits.maxQueuedBytes();
    this.listener = listener;
    this.reader = new MessageReader(limits, listener, (bytes, news, loss) -> news.run());
  }

  /** Goes on over the attached stream. */
  void over(NetSocket attached) {
    socket = attached;
  }

  String id() {
    return id;
  }

  /** Whether it has ended, though perhaps nobody has said yet how. */
  boolean isEnding() {
    return ending;
  }

  ContainerEngine.Image image() {
    return image;
  }

  /** How it ended; null while it has not, or where nobody could say. */
  ContainerEngine.End end() {
    return end;
  }

  @Override
  public String lastWords() {
    String last = words.toString().strip();
    return last.substring(last.lastIndexOf('\n') + 1).replaceAll("\\p{Cntrl}", " ");
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

  /** Asks the server to end, as it would be asked on this machine. */
  @Override
  public Future<Void> close() {
    return close(containerEngine::stop);
  }

  /** Ends it without asking: nobody will ever use it again. */
  Future<Void> discard() {
    return close(containerEngine::remove);
  }

  private Future<Void> close(Function<String, ? extends Future<?>> removal) {
    if (!ending) {
      ending = true;
      removal
          .apply(id)
          .onComplete(
              removed -> {
                cut();
                listener.closed("stopped");
                gone.tryComplete();
              });
    }
    return gone.future();
  }

  @Override
  public void bytes(Buffer chunk, int from) {
    if (ending) {
      return;
    }
    dockerFrameReader.feed(chunk, from);
    String excess = reader.excess();
    if (excess != null && !ending) {
      ended(excess);
    }
  }

  @Override
  public void stdout(byte[] bytes) {
    try {
      reader.feed(bytes, bytes.length);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void stderr(byte[] bytes) {
    words.append(new String(bytes, StandardCharsets.UTF_8));
    if (words.length() > LAST_WORDS) {
      words.delete(0, words.length() - LAST_WORDS);
    }
  }

  @Override
  public void closed() {
    if (!ending) {
      ended(null);
    }
  }

  /**
   * @param reason null where the container has to say
   */
  private void ended(String reason) {
    ending = true;
    containerEngine
        .end(id)
        .onSuccess(found -> end = found)
        .timeout(5, TimeUnit.SECONDS)
        .transform(
            done -> {
              String why = reason != null ? reason : reason(done.succeeded());
              LOG.log(Level.INFO, "container={0} reason={1} stderr={2}", id, why, lastWords());
              listener.closed(why);
              return containerEngine.remove(id);
            })
        .onComplete(
            removed -> {
              cut();
              gone.tryComplete();
            });
  }

  private void cut() {
    if (socket != null) {
      socket.close();
    }
  }

  private String reason(boolean known) {
    if (!known) {
      return "the container engine does not answer any more";
    }
    if (end.outOfMemory()) {
      return "the container ran out of memory";
    }
    return "the container exited with status " + end.exitCode();
  }
}
