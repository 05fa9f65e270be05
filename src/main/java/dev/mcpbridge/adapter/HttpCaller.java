package dev.mcpbridge.adapter;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.transport.HttpSender;
import dev.mcpbridge.transport.PendingRequest;
import dev.mcpbridge.transport.Polling;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sends HTTP requests and reads responses of bounded size; does not follow redirects. */
public final class HttpCaller {
  private static final Pattern CHARSET =
      Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s;\"]+)", Pattern.CASE_INSENSITIVE);

  private static final long POLL_MILLIS = 20;

  private final Vertx vertx;
  private final HttpSender sender;
  private final MemoryBudget memory;
  private final Queue<Decompression> decompressions = new ArrayDeque<>();
  private boolean isDecompressing;

  /**
   * @param memory budget for response bodies
   * @param mayAct whether requests may be sent at this moment
   */
  public HttpCaller(Vertx vertx, HttpAccess access, MemoryBudget memory, BooleanSupplier mayAct) {
    this.vertx = vertx;
    this.memory = memory;
    this.sender = new HttpSender(vertx, access, memory, mayAct);
  }

  /** A response with its complete body. */
  public record Response(HttpClientResponse head, Buffer body) {
    public int status() {
      return head.statusCode();
    }

    public String header(String name) {
      return head.getHeader(name);
    }

    /** The body, decoded with its declared charset (RFC 9110 section 8.3.2), else as UTF-8. */
    public String text() {
      return body.toString(charset());
    }

    private Charset charset() {
      Matcher matcher = CHARSET.matcher(String.valueOf(header("content-type")));
      try {
        return matcher.find() ? Charset.forName(matcher.group(1)) : StandardCharsets.UTF_8;
      } catch (IllegalArgumentException e) {
        return StandardCharsets.UTF_8;
      }
    }

    /** The media type in lower case without parameters; empty if absent. */
    public String mediaType() {
      String type = header("content-type");
      return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** A response that waits to be decompressed. */
  private record Decompression(
      Exchange exchange, Response response, int max, Promise<Response> decompressed) {}

  /** A request in flight, which can be cancelled. */
  public final class Exchange {
    private final URI url;
    private final PendingRequest pendingRequest;
    private final Promise<Response> response = Promise.promise();

    private Exchange(URI url, PendingRequest pendingRequest) {
      this.url = url;
      this.pendingRequest = pendingRequest;
    }

    public Future<Response> response() {
      return response.future();
    }

    private boolean isOver() {
      return response.future().isComplete();
    }

    /** Cancels the request and fails unless its complete response arrives in time. */
    public Exchange withTimeout(long millis) {
      BridgeException timeout =
          new BridgeException(
                  ErrorCode.DEADLINE_EXCEEDED,
                  url.getScheme()
                      + "://"
                      + url.getAuthority()
                      + " did not respond within "
                      + millis / 1000
                      + " seconds")
              .withExecuted(Executed.UNKNOWN);
      long timer =
          vertx.setTimer(
              millis,
              t -> {
                response.tryFail(timeout);
                cancel();
              });
      response.future().onComplete(done -> vertx.cancelTimer(timer));
      return this;
    }

    /** Cancels the request: closes its connection; a request without a connection is never sent. */
    public void cancel() {
      response.tryFail(
          new BridgeException(ErrorCode.CANCELLED, "cancelled").withExecuted(Executed.UNKNOWN));
      pendingRequest.cancel();
    }
  }

  /**
   * @param url its path and query are sent unchanged
   * @param requestWriter adds headers and sends the request
   */
  public Exchange send(
      HttpMethod method, URI url, int maxBody, HttpSender.RequestWriter requestWriter) {
    Exchange exchange =
        new Exchange(
            url,
            sender.send(
                method,
                url,
                request ->
                    requestWriter.apply(
                        request.putHeader("accept-encoding", GzipBodies.ACCEPTED))));
    exchange
        .pendingRequest
        .response()
        .compose(
            clientResponse ->
                clientResponse
                    .body(maxBody)
                    .map(body -> new Response(clientResponse.response(), body)))
        .compose(response -> decoded(exchange, response, maxBody))
        .onComplete(
            exchange.response::tryComplete,
            failure -> exchange.response.tryFail(HttpSender.toBridgeException(url, failure)));
    return exchange;
  }

  /** Decompresses on a worker thread, because a small body may expand to a large one. */
  private Future<Response> decoded(Exchange exchange, Response response, int max) {
    return GzipBodies.isEncoded(response.header("content-encoding"))
        ? decompressed(response, Math.min(max, MemoryBudget.LARGE))
            .recover(
                failure ->
                    isTooLarge(failure) && max > MemoryBudget.LARGE
                        ? decompressInTurn(exchange, response, max)
                        : Future.failedFuture(failure))
        : Future.succeededFuture(response);
  }

  private static boolean isTooLarge(Throwable failure) {
    return failure instanceof BridgeException bridgeFailure
        && bridgeFailure.code() == ErrorCode.RESPONSE_TOO_LARGE;
  }

  private Future<Response> decompressed(Response response, int max) {
    String coding = response.header("content-encoding");
    return vertx.executeBlocking(
        () -> new Response(response.head(), GzipBodies.decompressed(response.body(), coding, max)),
        false);
  }

  /** Decompresses large bodies one at a time, each when the memory budget permits it. */
  private Future<Response> decompressInTurn(Exchange exchange, Response response, int max) {
    Decompression waiting = new Decompression(exchange, response, max, Promise.promise());
    decompressions.add(waiting);
    next();
    return waiting.decompressed.future();
  }

  private void next() {
    decompressions.removeIf(each -> each.exchange.isOver());
    if (isDecompressing || decompressions.isEmpty()) {
      return;
    }
    isDecompressing = true;
    Decompression next = decompressions.remove();
    Polling.awaitCondition(
            vertx, POLL_MILLIS, () -> next.exchange.isOver() || !memory.isHigh(), () -> null)
        .compose(available -> decompressed(next.response, next.max))
        .onComplete(next.decompressed)
        .onComplete(
            done -> {
              isDecompressing = false;
              next();
            });
  }

  public Future<Void> close() {
    return sender.close().otherwiseEmpty();
  }
}
