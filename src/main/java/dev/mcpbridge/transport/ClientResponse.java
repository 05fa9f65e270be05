package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.protocol.SseReader;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.util.concurrent.CancellationException;

/** A request and the head of its response. Confined to its context. */
public final class ClientResponse {
  private final Vertx vertx;
  private final MemoryBudget memory;
  private final HttpClientRequest request;
  private final HttpClientResponse response;
  private BackpressuredBody backpressuredBody;
  private boolean ended;
  private boolean isGivenUp;

  /** Takes a response in, piece by piece. */
  private interface BodyReader {
    /**
     * @return bytes that are kept until more comes
     */
    long take(Buffer chunk);

    void ended(Throwable broken);
  }

  /** What becomes of an event stream. */
  interface StreamListener {
    /** Something came, be it a comment. */
    default void heard() {}

    void tooLong();

    /**
     * @param broken null where it came to its end
     */
    void ended(Throwable broken);
  }

  private ClientResponse(
      Vertx vertx, MemoryBudget memory, HttpClientRequest request, HttpClientResponse response) {
    this.vertx = vertx;
    this.memory = memory;
    this.request = request;
    this.response = response;
  }

  /** What breaks after it was given up is nobody's concern. */
  static ClientResponse of(
      Vertx vertx, MemoryBudget memory, HttpClientRequest request, HttpClientResponse response) {
    response.exceptionHandler(e -> {});
    return new ClientResponse(vertx, memory, request, response);
  }

  public HttpClientResponse response() {
    return response;
  }

  /** The whole body; a longer one is given up and fails with RESPONSE_TOO_LARGE. */
  public Future<Buffer> body(int max) {
    Promise<Buffer> whole = Promise.promise();
    int expected = expected(max);
    read(
        new BodyReader() {
          private Buffer held = Buffer.buffer();

          @Override
          public long take(Buffer chunk) {
            if (held.length() == 0) {
              held = Buffer.buffer(Math.max(expected, chunk.length()));
            }
            held.appendBuffer(chunk);
            if (held.length() > max && whole.tryFail(tooLarge(max))) {
              abort();
            }
            return Math.max(expected, held.length());
          }

          @Override
          public void ended(Throwable broken) {
            if (broken == null) {
              whole.tryComplete(held);
            } else {
              whole.tryFail(broken);
            }
          }
        },
        BackpressuredBody.AS_LONG_AS_ITS_CALL);
    backpressuredBody.holds(expected);
    return whole.future();
  }

  /** What its head says, as far as it is believed; 0 for nothing. */
  private int expected(int max) {
    String length = String.valueOf(response.getHeader("content-length"));
    boolean hasBody = request.getMethod() != HttpMethod.HEAD;
    return hasBody && length.matches("\\d{1,9}") ? Math.min(max, Integer.parseInt(length)) : 0;
  }

  /** Reads it as it comes. */
  private void read(BodyReader bodyReader, long patienceNanos) {
    backpressuredBody = new BackpressuredBody(vertx, response, memory, patienceNanos);
    response
        .handler(chunk -> take(bodyReader, chunk))
        .exceptionHandler(broken -> ended(bodyReader, broken))
        .endHandler(v -> ended(bodyReader, null));
  }

  /**
   * Reads it as an event stream.
   *
   * @param patienceNanos how long it waits for memory at most
   */
  void events(SseReader events, long patienceNanos, StreamListener listener) {
    read(
        new BodyReader() {
          @Override
          public long take(Buffer chunk) {
            listener.heard();
            try {
              events.feed(chunk.getBytes());
            } catch (IllegalStateException e) {
              listener.tooLong();
            }
            return events.held();
          }

          @Override
          public void ended(Throwable broken) {
            listener.ended(broken);
          }
        },
        patienceNanos);
  }

  private void ended(BodyReader bodyReader, Throwable broken) {
    ended = true;
    backpressuredBody.end();
    bodyReader.ended(isGivenUp && broken == null ? new CancellationException("given up") : broken);
  }

  public static BridgeException tooLarge(int max) {
    return new BridgeException(
            ErrorCode.RESPONSE_TOO_LARGE, "The answer is longer than " + max + " bytes")
        .withExecuted(Executed.YES);
  }

  /**
   * What its status means where it has no message: below 500, or to come later, nothing was run.
   */
  BridgeException refusal() {
    int status = response.statusCode();
    String sentence = "The server answered HTTP " + status;
    if (status == 429 || status == 503) {
      ErrorCode code = status == 429 ? ErrorCode.RATE_LIMITED : ErrorCode.OVERLOADED;
      return new BridgeException(code, sentence).withRetryAfter(retryAfterMillis());
    }
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, sentence)
        .withExecuted(status < 500 ? Executed.NO : Executed.UNKNOWN);
  }

  private long retryAfterMillis() {
    String seconds = String.valueOf(response.getHeader("retry-after"));
    return seconds.matches("\\d{1,6}") ? Long.parseLong(seconds) * 1000 : 1000;
  }

  boolean isStream() {
    String type = response.getHeader("content-type");
    return type != null && type.startsWith("text/event-stream");
  }

  /**
   * Gives it up; nothing more is kept of it. One that waits for memory may have come whole, and its
   * connection serve another request: that shows when it has gone on.
   */
  void abort() {
    isGivenUp = true;
    if (backpressuredBody == null) {
      request.reset();
      return;
    }
    backpressuredBody.end();
    response.resume();
    vertx.runOnContext(
        resumed -> {
          if (!ended) {
            request.reset();
          }
        });
  }

  private void take(BodyReader bodyReader, Buffer chunk) {
    if (!isGivenUp) {
      backpressuredBody.holds(bodyReader.take(chunk));
    }
  }
}
