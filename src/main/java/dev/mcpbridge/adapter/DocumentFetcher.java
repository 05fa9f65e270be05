package dev.mcpbridge.adapter;

import dev.mcpbridge.config.DocumentSource;
import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;

/**
 * A document that is read and looked at again: an entity tag or a file's time says whether it has
 * changed (RFC 9110 section 13.1.2). Confined to its context.
 */
public final class DocumentFetcher {
  private static final int MAX_BYTES = 32 << 20;
  private static final long MAX_MILLIS = 60_000;

  private final Vertx vertx;
  private final HttpCaller http;
  private final DocumentSource source;
  private final HttpAccess access;
  private String tag;
  private boolean reading;

  public DocumentFetcher(Vertx vertx, HttpCaller http, DocumentSource source, HttpAccess access) {
    this.vertx = vertx;
    this.http = http;
    this.source = source;
    this.access = access;
  }

  /** The text; null where it has not changed since it was read last, or is being read already. */
  public Future<byte[]> read() {
    if (reading) {
      return Future.succeededFuture();
    }
    reading = true;
    return text().onComplete(done -> reading = false);
  }

  private Future<byte[]> text() {
    if (source instanceof DocumentSource.Url url) {
      return fetch(url);
    }
    return source instanceof DocumentSource.LocalFile localFile
        ? file(localFile.file().toString())
        : inline(((DocumentSource.Inline) source).text());
  }

  private Future<byte[]> inline(String text) {
    boolean isKnown = tag != null;
    tag = "inline";
    return Future.succeededFuture(isKnown ? null : text.getBytes(StandardCharsets.UTF_8));
  }

  private Future<byte[]> file(String path) {
    return vertx
        .fileSystem()
        .props(path)
        .compose(
            props -> {
              String now = props.lastModifiedTime() + "/" + props.size();
              if (props.size() > MAX_BYTES) {
                return Future.failedFuture(tooLarge());
              }
              if (now.equals(tag)) {
                return Future.succeededFuture();
              }
              return vertx
                  .fileSystem()
                  .readFile(path)
                  .map(
                      text -> {
                        tag = now;
                        return text.getBytes();
                      });
            })
        .recover(failure -> Future.failedFuture(unreadable(path, failure)));
  }

  private Future<byte[]> fetch(DocumentSource.Url url) {
    return http.send(
            HttpMethod.GET,
            url.url(),
            MAX_BYTES,
            request -> {
              access.headers().forEach((name, value) -> request.putHeader(name, value.reveal()));
              request.putHeader("accept", "application/json, application/yaml, */*;q=0.5");
              if (tag != null) {
                request.putHeader("if-none-match", tag);
              }
              return request.send();
            })
        .within(MAX_MILLIS)
        .answer()
        .map(
            answer -> {
              if (answer.status() == 304 && tag != null) {
                return null;
              }
              if (answer.status() != 200) {
                throw unreadable(url.url().toString(), "status " + answer.status());
              }
              return news(answer);
            });
  }

  private byte[] news(HttpCaller.Answer answer) {
    Buffer body = answer.body();
    String said = answer.header("etag");
    String now = said == null ? "\"" + Integer.toHexString(body.hashCode()) + "\"" : said;
    boolean isSame = now.equals(tag);
    tag = now;
    return isSame ? null : body.getBytes();
  }

  private static BridgeException unreadable(String where, Object why) {
    return why instanceof BridgeException known
        ? known
        : new BridgeException(
            ErrorCode.START_FAILED,
            where + " cannot be read: " + (why instanceof Throwable t ? t.getMessage() : why));
  }

  private static BridgeException tooLarge() {
    return new BridgeException(
        ErrorCode.START_FAILED, "The document is longer than " + MAX_BYTES + " bytes");
  }
}
