package dev.mcpbridge.adapter;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.Function;

/**
 * What a document means, for as long as it is looked at: one that cannot be used any more leaves
 * what the one before it meant. Confined to its context.
 */
public final class PolledDocument<T> {
  private static final Logger LOG = System.getLogger(PolledDocument.class.getName());

  private final Vertx vertx;
  private final String server;
  private final DocumentFetcher documentFetcher;
  private final Function<byte[], Future<T>> meaning;
  private T current;
  private long timer = -1;
  private boolean closed;

  /**
   * @param server whose document it is, for the log
   * @param meaning understands a text, or fails with a sentence
   */
  public PolledDocument(
      Vertx vertx,
      String server,
      DocumentFetcher documentFetcher,
      Function<byte[], Future<T>> meaning) {
    this.vertx = vertx;
    this.server = server;
    this.documentFetcher = documentFetcher;
    this.meaning = meaning;
  }

  /** Reads it for the first time. */
  public Future<T> open() {
    return documentFetcher.read().compose(meaning).onSuccess(read -> current = read);
  }

  /** Looks at it again from time to time; nothing comes of it once it is closed. */
  public void watch(long millis, Runnable changed) {
    if (!closed) {
      timer = vertx.setPeriodic(millis, t -> look(changed));
    }
  }

  /** What it means now; null before it was read. */
  public T current() {
    return current;
  }

  public void close() {
    closed = true;
    vertx.cancelTimer(timer);
  }

  private void look(Runnable changed) {
    documentFetcher
        .read()
        .compose(text -> text == null ? Future.succeededFuture() : meaning.apply(text))
        .onSuccess(
            read -> {
              if (read != null && !closed) {
                current = read;
                changed.run();
              }
            })
        .onFailure(
            failure ->
                LOG.log(
                    Level.WARNING,
                    "server={0} goes on with the document it has: {1}",
                    server,
                    failure.getMessage()));
  }
}
