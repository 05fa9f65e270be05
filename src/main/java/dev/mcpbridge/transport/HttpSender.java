package dev.mcpbridge.transport;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.impl.http2.Http2Connection;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.net.impl.ConnectionBase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Sends HTTP requests; redirects are left to the caller. Right before a request is sent, {@code
 * mayAct} is checked, so that a node that was frozen and has lost its lease does not send requests
 * that it had begun; such a request waits until sending is allowed again.
 */
public final class HttpSender {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int KEEP_ALIVE_SECONDS = 30;
  private static final int MAX_CONNECTIONS = 256;

  /** A further one is opened when the streams of the others are used up. */
  private static final int MAX_HTTP2_CONNECTIONS = 4;

  private static final int MAX_FLUSHES = 256;
  private static final long POLL_MILLIS = 10;

  /** One paused stream must not stop the others of its connection. */
  private static final int HTTP2_WINDOW = 16 << 20;

  private final Vertx vertx;
  private final MemoryBudget memory;
  private final BooleanSupplier mayAct;
  private final HttpClient client;
  private final HttpClient unpooled;
  private volatile boolean closed;

  /**
   * @param memory budget for response bodies
   * @param mayAct whether requests may be sent at this moment
   */
  public HttpSender(Vertx vertx, HttpAccess access, MemoryBudget memory, BooleanSupplier mayAct) {
    this(vertx, new HttpClientOptions(), access, memory, mayAct);
  }

  /**
   * Sends requests over HTTP/2 only, without an upgrade from HTTP/1.1 (RFC 9113 sections 3.2 and
   * 3.3).
   */
  public static HttpSender http2(
      Vertx vertx, HttpAccess access, MemoryBudget memory, BooleanSupplier mayAct) {
    HttpClientOptions options =
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false)
            .setHttp2ConnectionWindowSize(HTTP2_WINDOW)
            .setUseAlpn(true);
    return new HttpSender(vertx, options, access, memory, mayAct);
  }

  private HttpSender(
      Vertx vertx,
      HttpClientOptions options,
      HttpAccess access,
      MemoryBudget memory,
      BooleanSupplier mayAct) {
    this.vertx = vertx;
    this.memory = memory;
    this.mayAct = mayAct;
    options.setConnectTimeout(CONNECT_MILLIS).setKeepAliveTimeout(KEEP_ALIVE_SECONDS);
    if (access.trustedCertificates() != null) {
      options.setTrustOptions(
          new PemTrustOptions().addCertPath(access.trustedCertificates().toString()));
    }
    if (access.clientCertificate() != null) {
      options.setKeyCertOptions(
          new PemKeyCertOptions()
              .addCertPath(access.clientCertificate().chain().toString())
              .addKeyPath(access.clientCertificate().key().toString()));
    }
    this.client = client(vertx, options);
    this.unpooled = client(vertx, new HttpClientOptions(options).setKeepAlive(false));
  }

  private static HttpClient client(Vertx vertx, HttpClientOptions options) {
    return vertx
        .httpClientBuilder()
        .with(options)
        .with(
            new PoolOptions()
                .setHttp1MaxSize(MAX_CONNECTIONS)
                .setHttp2MaxSize(MAX_HTTP2_CONNECTIONS))
        .withConnectHandler(HttpSender::opened)
        .build();
  }

  private static void opened(HttpConnection connection) {
    trackSocket(connection);
    if (connection instanceof ConnectionBase netty && connection instanceof Http2Connection) {
      consolidateFlushes(netty.channelHandlerContext().pipeline());
    }
  }

  /**
   * Requests over one connection that begin in the same turn of the event loop are sent together.
   * Vert.x has no public access to the pipeline; if the internal one is gone, each is sent alone.
   */
  private static void consolidateFlushes(ChannelPipeline pipeline) {
    ChannelHandlerContext encryption = pipeline.context(SslHandler.class);
    FlushConsolidationHandler handler = new FlushConsolidationHandler(MAX_FLUSHES, true);
    if (encryption == null) {
      pipeline.addFirst(handler);
    } else {
      pipeline.addAfter(encryption.name(), null, handler);
    }
  }

  /** Registers the connection's local address; null if it has been closed already. */
  private static void trackSocket(HttpConnection connection) {
    SocketAddress local = connection.localAddress();
    if (local != null) {
      InetSocketAddress address = new InetSocketAddress(local.hostAddress(), local.port());
      OwnSockets.addOutgoing(address);
      connection.closeHandler(v -> OwnSockets.removeOutgoing(address));
    }
  }

  /** Writes headers and body of a request that has a connection, and sends it. */
  public interface RequestWriter extends Function<HttpClientRequest, Future<HttpClientResponse>> {}

  /**
   * Sends a request. A server may close a pooled connection just as it is reused; a safe request
   * that gets no response for that reason is retried once on a new connection (RFC 9110 section
   * 9.2.2).
   *
   * @param url its path and query are sent unchanged
   */
  public PendingRequest send(HttpMethod method, URI url, RequestWriter requestWriter) {
    PendingRequest pendingRequest = new PendingRequest();
    return pendingRequest.follow(send(pendingRequest, method, url, requestWriter));
  }

  /**
   * Sends a request, which may be one of several attempts.
   *
   * @param pendingRequest all attempts together, so that they can be cancelled
   */
  Future<ClientResponse> send(
      PendingRequest pendingRequest, HttpMethod method, URI url, RequestWriter requestWriter) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setAbsoluteURI(url.toString())
            .setFollowRedirects(false);
    return attempt(client, options, pendingRequest, requestWriter)
        .recover(
            failure ->
                isSafe(method) && isConnectionLost(failure)
                    ? attempt(unpooled, options, pendingRequest, requestWriter)
                    : Future.failedFuture(failure))
        .recover(failure -> Future.failedFuture(toBridgeException(url, failure)));
  }

  private Future<ClientResponse> attempt(
      HttpClient client,
      RequestOptions options,
      PendingRequest pendingRequest,
      RequestWriter requestWriter) {
    return client
        .request(options)
        .compose(
            request ->
                pendingRequest.onConnection(request)
                    ? awaitPermission()
                        .compose(allowed -> write(request, requestWriter))
                        .map(response -> ClientResponse.of(vertx, memory, request, response))
                    : Future.failedFuture("the request was cancelled"));
  }

  private static boolean isSafe(HttpMethod method) {
    return method == HttpMethod.GET || method == HttpMethod.HEAD;
  }

  /** Whether the connection was closed or reset before the head of a response arrived. */
  private static boolean isConnectionLost(Throwable failure) {
    boolean isLost = failure instanceof HttpClosedException || failure instanceof IOException;
    return isLost && ConnectFailures.executed(failure) == Executed.UNKNOWN;
  }

  private Future<Void> awaitPermission() {
    return Polling.awaitCondition(vertx, POLL_MILLIS, mayAct, () -> closed ? notOwner() : null);
  }

  private static BridgeException notOwner() {
    return new BridgeException(ErrorCode.NOT_OWNER, "This node no longer owns the server");
  }

  /** The cause of an invalid header is not reported: it may contain a secret. */
  private static Future<HttpClientResponse> write(
      HttpClientRequest request, RequestWriter requestWriter) {
    try {
      return requestWriter
          .apply(request)
          .recover(
              failure -> Future.failedFuture(isIgnored(request, failure) ? goingAway() : failure));
    } catch (IllegalArgumentException e) {
      request.reset(ClientResponse.CANCEL);
      return Future.failedFuture(
          new BridgeException(ErrorCode.INVALID_ARGUMENTS, "The request cannot be sent"));
    }
  }

  /** A server that goes away does not process later streams (RFC 9113 section 6.8). */
  private static boolean isIgnored(HttpClientRequest request, Throwable failure) {
    return failure instanceof HttpClosedException closed
        && closed.goAway() != null
        && request.streamId() > closed.goAway().getLastStreamId();
  }

  private static BridgeException goingAway() {
    return new BridgeException(
        ErrorCode.UPSTREAM_CRASHED, "The server was going away and did not process the request");
  }

  /** Converts a failure to a BridgeException; its message names only scheme and authority. */
  public static BridgeException toBridgeException(URI url, Throwable failure) {
    return failure instanceof BridgeException bridgeFailure
        ? bridgeFailure
        : new BridgeException(
                ErrorCode.UPSTREAM_CRASHED,
                url.getScheme()
                    + "://"
                    + url.getAuthority()
                    + " cannot be reached: "
                    + ConnectFailures.reason(failure))
            .because(failure)
            .withExecuted(ConnectFailures.executed(failure));
  }

  public Future<Void> close() {
    closed = true;
    return Future.join(client.close(), unpooled.close()).mapEmpty();
  }
}
