package dev.mcpbridge.transport;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Sends requests to where an entry says; redirects are left to whoever asks. A process that was
 * frozen sends nothing of what it had begun where it may not act any more: that is asked right
 * before each request goes, and what may not go waits.
 */
public final class HttpSender {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int KEEP_ALIVE_SECONDS = 30;
  private static final int MAX_CONNECTIONS = 256;
  private static final long LOOK_MILLIS = 10;

  private final Vertx vertx;
  private final MemoryBudget memory;
  private final BooleanSupplier mayAct;
  private final HttpClient client;
  private final HttpClient fresh;
  private volatile boolean closed;

  /**
   * @param memory for what comes back
   * @param mayAct whether anything may be begun at this moment
   */
  public HttpSender(Vertx vertx, HttpAccess access, MemoryBudget memory, BooleanSupplier mayAct) {
    this.vertx = vertx;
    this.memory = memory;
    this.mayAct = mayAct;
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout(CONNECT_MILLIS)
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS);
    if (access.authority() != null) {
      options.setTrustOptions(new PemTrustOptions().addCertPath(access.authority().toString()));
    }
    this.client = client(vertx, options);
    this.fresh = client(vertx, new HttpClientOptions(options).setKeepAlive(false));
  }

  private static HttpClient client(Vertx vertx, HttpClientOptions options) {
    return vertx
        .httpClientBuilder()
        .with(options)
        .with(new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS))
        .withConnectHandler(HttpSender::tell)
        .build();
  }

  /** One that has been closed already has no address any more. */
  private static void tell(HttpConnection connection) {
    SocketAddress from = connection.localAddress();
    if (from != null) {
      InetSocketAddress address = new InetSocketAddress(from.hostAddress(), from.port());
      OwnSockets.sends(address);
      connection.closeHandler(v -> OwnSockets.sendsNoMore(address));
    }
  }

  /** What is said to a request that has its connection: its headers, its body, and to go. */
  public interface RequestWriter extends Function<HttpClientRequest, Future<HttpClientResponse>> {}

  /**
   * A server may close a connection just as it is used again. A safe request that gets no answer
   * for that reason is sent once more, over a connection of its own (RFC 9110 section 9.2.2).
   *
   * @param url its path and query go out as they are written
   */
  public PendingRequest send(HttpMethod method, URI url, RequestWriter requestWriter) {
    PendingRequest pendingRequest = new PendingRequest();
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setAbsoluteURI(url.toString())
            .setFollowRedirects(false);
    return pendingRequest.follow(
        sent(client, options, pendingRequest, requestWriter)
            .recover(
                failure ->
                    isSafe(method) && isUnanswered(failure)
                        ? sent(fresh, options, pendingRequest, requestWriter)
                        : Future.failedFuture(failure))
            .recover(failure -> Future.failedFuture(explained(url, failure))));
  }

  private Future<ClientResponse> sent(
      HttpClient client,
      RequestOptions options,
      PendingRequest pendingRequest,
      RequestWriter requestWriter) {
    return client
        .request(options)
        .compose(
            request ->
                pendingRequest.begun(request)
                    ? allowed()
                        .compose(yes -> gone(request, requestWriter))
                        .map(response -> ClientResponse.of(vertx, memory, request, response))
                    : Future.failedFuture("given up"));
  }

  private static boolean isSafe(HttpMethod method) {
    return method == HttpMethod.GET || method == HttpMethod.HEAD;
  }

  /** The connection was closed or reset before the head of an answer was there. */
  private static boolean isUnanswered(Throwable failure) {
    boolean isLost = failure instanceof HttpClosedException || failure instanceof IOException;
    return isLost && ConnectFailures.executed(failure) == Executed.UNKNOWN;
  }

  private Future<Void> allowed() {
    return Polling.so(vertx, LOOK_MILLIS, mayAct, () -> closed ? notHereAnyMore() : null);
  }

  private static BridgeException notHereAnyMore() {
    return new BridgeException(ErrorCode.NOT_OWNER, "This node does not have the server any more");
  }

  /** What is wrong with a header is not repeated: it may hold a secret. */
  private static Future<HttpClientResponse> gone(
      HttpClientRequest request, RequestWriter requestWriter) {
    try {
      return requestWriter.apply(request);
    } catch (IllegalArgumentException e) {
      request.reset();
      return Future.failedFuture(
          new BridgeException(ErrorCode.INVALID_ARGUMENTS, "The request cannot be sent"));
    }
  }

  /** What broke on its way, in words that name nothing but the server. */
  public static BridgeException explained(URI url, Throwable failure) {
    return failure instanceof BridgeException known
        ? known
        : new BridgeException(
                ErrorCode.UPSTREAM_CRASHED,
                url.getScheme()
                    + "://"
                    + url.getAuthority()
                    + " cannot be reached: "
                    + ConnectFailures.why(failure))
            .withExecuted(ConnectFailures.executed(failure));
  }

  public Future<Void> close() {
    closed = true;
    return Future.join(client.close(), fresh.close()).mapEmpty();
  }
}
