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
 * Reads a document repeatedly. An entity tag (RFC 9110 section 13.1.2) or the modification time of
 * a file shows whether it has changed. Confined to its context.
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

  /** Returns the text; null if it is unchanged since the last read, or a read is in progress. */
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
    boolean wasRead = tag != null;
    tag = "inline";
    return Future.succeededFuture(wasRead ? null : text.getBytes(StandardCharsets.UTF_8));
  }

  private Future<byte[]> file(String path) {
    return vertx
        .fileSystem()
        .props(path)
        .compose(
            props -> {
              String version = props.lastModifiedTime() + "/" + props.size();
              if (props.size() > MAX_BYTES) {
                return Future.failedFuture(tooLarge());
              }
              if (version.equals(tag)) {
                return Future.succeededFuture();
              }
              return vertx
                  .fileSystem()
                  .readFile(path)
                  .map(
                      text -> {
                        tag = version;
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
        .withTimeout(MAX_MILLIS)
        .response()
        .map(
            response -> {
              if (response.status() == 304 && tag != null) {
                return null;
              }
              if (response.status() != 200) {
                throw unreadable(url.url().toString(), "status " + response.status());
              }
              return bodyIfChanged(response);
            });
  }

  private byte[] bodyIfChanged(HttpCaller.Response response) {
    Buffer body = response.body();
    String etag = response.header("etag");
    String version = etag == null ? "\"" + Integer.toHexString(body.hashCode()) + "\"" : etag;
    boolean isSame = version.equals(tag);
    tag = version;
    return isSame ? null : body.getBytes();
  }

  private static BridgeException unreadable(String path, Object cause) {
    return cause instanceof BridgeException bridgeFailure
        ? bridgeFailure
        : new BridgeException(
            ErrorCode.START_FAILED,
            path + " cannot be read: " + (cause instanceof Throwable t ? t.getMessage() : cause));
  }

  private static BridgeException tooLarge() {
    return new BridgeException(
        ErrorCode.START_FAILED, "The document exceeds " + MAX_BYTES + " bytes");
  }
}
