package dev.mcpbridge.adapter;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.Function;

/**
 * The parsed content of a document that is polled for changes. If a new version cannot be read or
 * parsed, the previous one stays in use. Confined to its context.
 */
public final class PolledDocument<T> {
  private static final Logger LOG = System.getLogger(PolledDocument.class.getName());

  private final Vertx vertx;
  private final String server;
  private final DocumentFetcher documentFetcher;
  private final Function<byte[], Future<T>> parser;
  private T current;
  private long timer = -1;
  private boolean closed;

  /**
   * @param server the id of the server, for log messages
   * @param parser parses a text, or fails with a message for people
   */
  public PolledDocument(
      Vertx vertx,
      String server,
      DocumentFetcher documentFetcher,
      Function<byte[], Future<T>> parser) {
    this.vertx = vertx;
    this.server = server;
    this.documentFetcher = documentFetcher;
    this.parser = parser;
  }

  /** Reads the document for the first time. */
  public Future<T> open() {
    return documentFetcher.read().compose(parser).onSuccess(read -> current = read);
  }

  /** Polls the document with this period and calls back after each change, until closed. */
  public void watch(long millis, Runnable changed) {
    if (!closed) {
      timer = vertx.setPeriodic(millis, t -> refresh(changed));
    }
  }

  /** The current content; null before the document was read. */
  public T current() {
    return current;
  }

  public void close() {
    closed = true;
    vertx.cancelTimer(timer);
  }

  private void refresh(Runnable changed) {
    documentFetcher
        .read()
        .compose(text -> text == null ? Future.succeededFuture() : parser.apply(text))
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
                    "server={0} document refresh failed, previous version stays in use: {1}",
                    server,
                    failure.getMessage()));
  }
}
