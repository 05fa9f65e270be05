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
  public record Answer(HttpClientResponse head, Buffer body) {
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
    public String type() {
      String type = header("content-type");
      return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** A response that waits to be decompressed. */
  private record Decompression(
      Exchange exchange, Answer answer, int max, Promise<Answer> decompressed) {}

  /** A request in flight, which can be cancelled. */
  public final class Exchange {
    private final URI url;
    private final PendingRequest pendingRequest;
    private final Promise<Answer> answer = Promise.promise();

    private Exchange(URI url, PendingRequest pendingRequest) {
      this.url = url;
      this.pendingRequest = pendingRequest;
    }

    public Future<Answer> answer() {
      return answer.future();
    }

    private boolean isOver() {
      return answer.future().isComplete();
    }

    /** Cancels the request and fails unless its complete response arrives in time. */
    public Exchange within(long millis) {
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
                answer.tryFail(timeout);
                giveUp();
              });
      answer.future().onComplete(done -> vertx.cancelTimer(timer));
      return this;
    }

    /** Cancels the request: closes its connection; a request without a connection is never sent. */
    public void giveUp() {
      answer.tryFail(
          new BridgeException(ErrorCode.CANCELLED, "cancelled").withExecuted(Executed.UNKNOWN));
      pendingRequest.giveUp();
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
        .answer()
        .compose(
            clientResponse ->
                clientResponse
                    .body(maxBody)
                    .map(body -> new Answer(clientResponse.response(), body)))
        .compose(answer -> decoded(exchange, answer, maxBody))
        .onComplete(
            exchange.answer::tryComplete,
            failure -> exchange.answer.tryFail(HttpSender.explained(url, failure)));
    return exchange;
  }

  /** Decompresses on a worker thread, because a small body may expand to a large one. */
  private Future<Answer> decoded(Exchange exchange, Answer answer, int max) {
    return GzipBodies.isCoded(answer.header("content-encoding"))
        ? decompressed(answer, Math.min(max, MemoryBudget.LARGE))
            .recover(
                failure ->
                    isTooLarge(failure) && max > MemoryBudget.LARGE
                        ? decompressInTurn(exchange, answer, max)
                        : Future.failedFuture(failure))
        : Future.succeededFuture(answer);
  }

  private static boolean isTooLarge(Throwable failure) {
    return failure instanceof BridgeException bridgeFailure
        && bridgeFailure.code() == ErrorCode.RESPONSE_TOO_LARGE;
  }

  private Future<Answer> decompressed(Answer answer, int max) {
    String coding = answer.header("content-encoding");
    return vertx.executeBlocking(
        () -> new Answer(answer.head(), GzipBodies.plain(answer.body(), coding, max)), false);
  }

  /** Decompresses large bodies one at a time, each when the memory budget permits it. */
  private Future<Answer> decompressInTurn(Exchange exchange, Answer answer, int max) {
    Decompression waiting = new Decompression(exchange, answer, max, Promise.promise());
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
    Polling.so(vertx, POLL_MILLIS, () -> next.exchange.isOver() || !memory.isHigh(), () -> null)
        .compose(available -> decompressed(next.answer, next.max))
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
