package dev.mcpbridge.transport;

import dev.mcpbridge.config.Remote;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import java.net.URI;
import java.util.Map;

/** Requests to one remote server, with its configured headers; redirects are not followed. */
final class HttpPeer {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int MAX_CONNECTIONS = 256;

  private final Remote remote;
  private final HttpClient client;

  HttpPeer(Vertx vertx, Remote remote) {
    this.remote = remote;
    HttpClientOptions options =
        new HttpClientOptions().setConnectTimeout(CONNECT_MILLIS).setKeepAliveTimeout(30);
    if (remote.access().authority() != null) {
      options.setTrustOptions(
          new PemTrustOptions().addCertPath(remote.access().authority().toString()));
    }
    this.client =
        vertx.createHttpClient(options, new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS));
  }

  URI url() {
    return remote.url();
  }

  /** Posts a message; the response's body has not been read. */
  Posting post(URI url, byte[] body, Map<String, String> headers) {
    Posting posting = new Posting();
    return posting.follow(
        request(HttpMethod.POST, url, headers)
            .compose(
                request -> {
                  if (!posting.begun(request)) {
                    return Future.<Sent>failedFuture("given up");
                  }
                  request.putHeader("content-type", "application/json");
                  request.putHeader("accept", "application/json, text/event-stream");
                  return request
                      .send(Buffer.buffer(body))
                      .map(response -> Sent.of(request, response));
                })
            .recover(HttpPeer::unreachable));
  }

  /** Opens an event stream. */
  Future<Sent> listen(URI url, Map<String, String> headers) {
    return request(HttpMethod.GET, url, headers)
        .compose(
            request -> {
              request.putHeader("accept", "text/event-stream");
              return request.send().map(response -> Sent.of(request, response));
            })
        .recover(HttpPeer::unreachable);
  }

  Future<Void> delete(URI url, Map<String, String> headers) {
    return request(HttpMethod.DELETE, url, headers)
        .compose(HttpClientRequest::send)
        .compose(HttpClientResponse::end);
  }

  Future<Void> close() {
    return client.close();
  }

  /** A request and the head of its response. */
  record Sent(HttpClientRequest request, HttpClientResponse response) {
    /** What breaks after it was given up is nobody's concern. */
    static Sent of(HttpClientRequest request, HttpClientResponse response) {
      response.exceptionHandler(e -> {});
      return new Sent(request, response);
    }

    /** The whole body; a longer one is given up and fails with RESPONSE_TOO_LARGE. */
    Future<Buffer> body(int max) {
      Promise<Buffer> whole = Promise.promise();
      Buffer held = Buffer.buffer();
      response
          .handler(
              chunk -> {
                held.appendBuffer(chunk);
                if (held.length() > max && whole.tryFail(tooLarge(max))) {
                  abort();
                }
              })
          .exceptionHandler(whole::tryFail)
          .endHandler(v -> whole.tryComplete(held));
      return whole.future();
    }

    static BridgeException tooLarge(int max) {
      return new BridgeException(
              ErrorCode.RESPONSE_TOO_LARGE, "The answer is longer than " + max + " bytes")
          .withExecuted(Executed.YES);
    }

    boolean isStream() {
      String type = response.getHeader("content-type");
      return type != null && type.startsWith("text/event-stream");
    }

    /** Gives it up; nothing more is heard of it. */
    void abort() {
      request.reset();
    }
  }

  private Future<HttpClientRequest> request(
      HttpMethod method, URI url, Map<String, String> headers) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setAbsoluteURI(url.toString())
            .setFollowRedirects(false);
    return client
        .request(options)
        .map(
            request -> {
              remote
                  .access()
                  .headers()
                  .forEach((name, value) -> request.putHeader(name, value.reveal()));
              headers.forEach(request::putHeader);
              return request;
            });
  }

  private static <T> Future<T> unreachable(Throwable cause) {
    return Future.failedFuture(
        new BridgeException(
                ErrorCode.UPSTREAM_CRASHED,
                "The server cannot be reached: " + Unreachable.why(cause))
            .withExecuted(Unreachable.executed(cause)));
  }
}
