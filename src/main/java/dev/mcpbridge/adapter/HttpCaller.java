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

/** Requests with bounded answers; redirects are left to whoever asks. */
public final class HttpCaller {
  private static final Pattern CHARSET =
      Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s;\"]+)", Pattern.CASE_INSENSITIVE);

  private static final long LOOK_MILLIS = 20;

  private final Vertx vertx;
  private final HttpSender sender;
  private final MemoryBudget memory;
  private final Queue<Turn> turns = new ArrayDeque<>();
  private boolean isUnpacking;

  /**
   * @param memory for what comes back
   * @param mayAct whether anything may be begun at this moment
   */
  public HttpCaller(Vertx vertx, HttpAccess access, MemoryBudget memory, BooleanSupplier mayAct) {
    this.vertx = vertx;
    this.memory = memory;
    this.sender = new HttpSender(vertx, access, memory, mayAct);
  }

  /** An answer, read whole. */
  public record Answer(HttpClientResponse head, Buffer body) {
    public int status() {
      return head.statusCode();
    }

    public String header(String name) {
      return head.getHeader(name);
    }

    /** In the charset that it says (RFC 9110 section 8.3.2), else in UTF-8. */
    public String text() {
      return body.toString(charset());
    }

    private Charset charset() {
      Matcher named = CHARSET.matcher(String.valueOf(header("content-type")));
      try {
        return named.find() ? Charset.forName(named.group(1)) : StandardCharsets.UTF_8;
      } catch (IllegalArgumentException e) {
        return StandardCharsets.UTF_8;
      }
    }

    /** Without its parameters, in lower case; empty where there is none. */
    public String type() {
      String type = header("content-type");
      return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** An answer that waits to be unpacked. */
  private record Turn(Exchange exchange, Answer answer, int max, Promise<Answer> unpacked) {}

  /** A request under way, which can be given up. */
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

    /** Gives it up, and says so, unless its whole answer is there in time. */
    public Exchange within(long millis) {
      BridgeException late =
          new BridgeException(
                  ErrorCode.DEADLINE_EXCEEDED,
                  url.getScheme()
                      + "://"
                      + url.getAuthority()
                      + " has not answered within "
                      + millis / 1000
                      + " seconds")
              .withExecuted(Executed.UNKNOWN);
      long timer =
          vertx.setTimer(
              millis,
              t -> {
                answer.tryFail(late);
                giveUp();
              });
      answer.future().onComplete(done -> vertx.cancelTimer(timer));
      return this;
    }

    /** Closes its connection; one that was not sent yet never is. */
    public void giveUp() {
      answer.tryFail(
          new BridgeException(ErrorCode.CANCELLED, "given up").withExecuted(Executed.UNKNOWN));
      pendingRequest.giveUp();
    }
  }

  /**
   * @param url its path and query go out as they are written
   * @param requestWriter adds headers and sends it
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
        .compose(answer -> plain(exchange, answer, maxBody))
        .onComplete(
            exchange.answer::tryComplete,
            failure -> exchange.answer.tryFail(HttpSender.explained(url, failure)));
    return exchange;
  }

  /** Beside the event loop, since a short body may hold a long one. */
  private Future<Answer> plain(Exchange exchange, Answer answer, int max) {
    return GzipBodies.isCoded(answer.header("content-encoding"))
        ? unpacked(answer, Math.min(max, MemoryBudget.LARGE))
            .recover(
                failure ->
                    isTooLarge(failure) && max > MemoryBudget.LARGE
                        ? inTurn(exchange, answer, max)
                        : Future.failedFuture(failure))
        : Future.succeededFuture(answer);
  }

  private static boolean isTooLarge(Throwable failure) {
    return failure instanceof BridgeException known && known.code() == ErrorCode.RESPONSE_TOO_LARGE;
  }

  private Future<Answer> unpacked(Answer answer, int max) {
    String coding = answer.header("content-encoding");
    return vertx.executeBlocking(
        () -> new Answer(answer.head(), GzipBodies.plain(answer.body(), coding, max)), false);
  }

  /** Large ones one after the other, and each when there is memory for more answers. */
  private Future<Answer> inTurn(Exchange exchange, Answer answer, int max) {
    Turn turn = new Turn(exchange, answer, max, Promise.promise());
    turns.add(turn);
    next();
    return turn.unpacked.future();
  }

  private void next() {
    turns.removeIf(turn -> turn.exchange.isOver());
    if (isUnpacking || turns.isEmpty()) {
      return;
    }
    isUnpacking = true;
    Turn turn = turns.remove();
    Polling.so(vertx, LOOK_MILLIS, () -> turn.exchange.isOver() || !memory.isHigh(), () -> null)
        .compose(room -> unpacked(turn.answer, turn.max))
        .onComplete(turn.unpacked)
        .onComplete(
            done -> {
              isUnpacking = false;
              next();
            });
  }

  public Future<Void> close() {
    return sender.close().otherwiseEmpty();
  }
}
