package dev.mcpbridge.adapter;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.transport.Unreachable;
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
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests with bounded answers; redirects are left to whoever asks. */
public final class HttpCaller {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int MAX_CONNECTIONS = 256;

  private static final Pattern CHARSET =
      Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s;\"]+)", Pattern.CASE_INSENSITIVE);

  private final Vertx vertx;
  private final HttpClient client;

  public HttpCaller(Vertx vertx, HttpAccess access) {
    this.vertx = vertx;
    HttpClientOptions options =
        new HttpClientOptions().setConnectTimeout(CONNECT_MILLIS).setKeepAliveTimeout(30);
    if (access.authority() != null) {
      options.setTrustOptions(new PemTrustOptions().addCertPath(access.authority().toString()));
    }
    this.client =
        vertx.createHttpClient(options, new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS));
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

  /** A request under way, which can be given up. */
  public final class Exchange {
    private final URI url;
    private final Promise<Answer> answer = Promise.promise();
    private HttpClientRequest request;
    private boolean givenUp;

    private Exchange(URI url) {
      this.url = url;
    }

    public Future<Answer> answer() {
      return answer.future();
    }

    /** Gives it up, and says so, unless its whole answer is there in time. */
    public Exchange within(long millis) {
      BridgeException late =
          new BridgeException(
                  ErrorCode.DEADLINE_EXCEEDED,
                  origin(url) + " has not answered within " + millis / 1000 + " seconds")
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
      givenUp = true;
      answer.tryFail(
          new BridgeException(ErrorCode.CANCELLED, "given up").withExecuted(Executed.UNKNOWN));
      if (request != null) {
        request.reset();
      }
    }
  }

  /**
   * @param url its path and query go out as they are written
   * @param send adds headers and sends it
   */
  public Exchange send(
      HttpMethod method,
      URI url,
      int maxBody,
      Function<HttpClientRequest, Future<HttpClientResponse>> send) {
    Exchange exchange = new Exchange(url);
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setAbsoluteURI(url.toString())
            .setFollowRedirects(false);
    client
        .request(options)
        .compose(
            request -> {
              exchange.request = request;
              if (exchange.givenUp) {
                request.reset();
                return Future.failedFuture("given up");
              }
              return begun(request, send);
            })
        .compose(response -> body(exchange.request, response, maxBody))
        .compose(answer -> plain(answer, maxBody))
        .onComplete(
            exchange.answer::tryComplete,
            failure -> exchange.answer.tryFail(explained(url, failure)));
    return exchange;
  }

  public Future<Void> close() {
    return client.close().otherwiseEmpty();
  }

  /** What is wrong with a header is not repeated: it may hold a secret. */
  private static Future<HttpClientResponse> begun(
      HttpClientRequest request, Function<HttpClientRequest, Future<HttpClientResponse>> send) {
    try {
      return send.apply(request.putHeader("accept-encoding", Compressed.ACCEPTED));
    } catch (IllegalArgumentException e) {
      request.reset();
      return Future.failedFuture(
          new BridgeException(ErrorCode.INVALID_ARGUMENTS, "The request cannot be sent"));
    }
  }

  private static Future<Answer> body(HttpClientRequest request, HttpClientResponse head, int max) {
    Promise<Answer> whole = Promise.promise();
    Buffer held = Buffer.buffer();
    head.handler(
            chunk -> {
              held.appendBuffer(chunk);
              if (held.length() > max && whole.tryFail(Compressed.tooLarge(max))) {
                request.reset();
              }
            })
        .exceptionHandler(whole::tryFail)
        .endHandler(v -> whole.tryComplete(new Answer(head, held)));
    return whole.future();
  }

  /** Beside the event loop, since a short body may hold a long one. */
  private Future<Answer> plain(Answer answer, int max) {
    String coding = answer.header("content-encoding");
    return Compressed.isCoded(coding)
        ? vertx.executeBlocking(
            () -> new Answer(answer.head(), Compressed.plain(answer.body(), coding, max)), false)
        : Future.succeededFuture(answer);
  }

  private static BridgeException explained(URI url, Throwable failure) {
    if (failure instanceof BridgeException known) {
      return known;
    }
    return new BridgeException(
            ErrorCode.UPSTREAM_CRASHED,
            origin(url) + " cannot be reached: " + Unreachable.why(failure))
        .withExecuted(Unreachable.executed(failure));
  }

  private static String origin(URI url) {
    return url.getScheme() + "://" + url.getAuthority();
  }
}
