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

/** A request with the head of its response; the body is read on demand. Confined to its context. */
public final class ClientResponse {
  private final Vertx vertx;
  private final MemoryBudget memory;
  private final HttpClientRequest request;
  private final HttpClientResponse response;
  private BackpressuredBody backpressuredBody;
  private boolean ended;
  private boolean isCancelled;

  /** Error code of RFC 9113 section 7; over HTTP/1.1 the connection is closed. */
  public static final long CANCEL = 8;

  /** Consumes a response body chunk by chunk. */
  public interface BodyReader {
    /**
     * @return number of bytes that stay buffered until the next chunk
     */
    long take(Buffer chunk);

    /**
     * @param broken null if the body is complete
     */
    void ended(Throwable broken);
  }

  /** Receives the events of a stream's life cycle. */
  interface StreamListener {
    /** Data was received, possibly only a comment. */
    default void onData() {}

    void onOversizedEvent();

    /**
     * @param broken null if the stream ended regularly
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

  /** Wraps a response; errors after its cancellation are ignored. */
  static ClientResponse of(
      Vertx vertx, MemoryBudget memory, HttpClientRequest request, HttpClientResponse response) {
    response.exceptionHandler(e -> {});
    return new ClientResponse(vertx, memory, request, response);
  }

  public HttpClientResponse response() {
    return response;
  }

  /** Reads the whole body; a longer one is aborted and fails with RESPONSE_TOO_LARGE. */
  public Future<Buffer> body(int max) {
    Promise<Buffer> promise = Promise.promise();
    int expectedLength = expectedLength(max);
    read(
        new BodyReader() {
          private Buffer buffered = Buffer.buffer();

          @Override
          public long take(Buffer chunk) {
            if (buffered.length() == 0) {
              buffered = Buffer.buffer(Math.max(expectedLength, chunk.length()));
            }
            buffered.appendBuffer(chunk);
            if (buffered.length() > max && promise.tryFail(tooLarge(max))) {
              abort();
            }
            return Math.max(expectedLength, buffered.length());
          }

          @Override
          public void ended(Throwable broken) {
            if (broken == null) {
              promise.tryComplete(buffered);
            } else {
              promise.tryFail(broken);
            }
          }
        },
        BackpressuredBody.UNLIMITED_NANOS);
    backpressuredBody.onBuffered(expectedLength);
    return promise.future();
  }

  /** The declared content length, at most {@code max}; 0 if absent or not plausible. */
  private int expectedLength(int max) {
    String length = String.valueOf(response.getHeader("content-length"));
    boolean hasBody = request.getMethod() != HttpMethod.HEAD;
    return hasBody && length.matches("\\d{1,9}") ? Math.min(max, Integer.parseInt(length)) : 0;
  }

  /** Reads the body chunk by chunk; waits for memory as long as the call waits. */
  public void read(BodyReader bodyReader) {
    read(bodyReader, BackpressuredBody.UNLIMITED_NANOS);
  }

  private void read(BodyReader bodyReader, long patienceNanos) {
    backpressuredBody = new BackpressuredBody(vertx, response, memory, patienceNanos);
    response
        .handler(chunk -> take(bodyReader, chunk))
        .exceptionHandler(broken -> ended(bodyReader, broken))
        .endHandler(v -> ended(bodyReader, null));
  }

  /**
   * Reads the body as an event stream.
   *
   * @param patienceNanos maximum time to wait for memory
   */
  void events(SseReader events, long patienceNanos, StreamListener listener) {
    read(
        new BodyReader() {
          @Override
          public long take(Buffer chunk) {
            listener.onData();
            try {
              events.feed(chunk.getBytes());
            } catch (IllegalStateException e) {
              listener.onOversizedEvent();
            }
            return events.bufferedBytes();
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
    bodyReader.ended(
        isCancelled && broken == null ? new CancellationException("cancelled") : broken);
  }

  public static BridgeException tooLarge(int max) {
    return new BridgeException(
            ErrorCode.RESPONSE_TOO_LARGE, "The response is longer than " + max + " bytes")
        .withExecuted(Executed.YES);
  }

  /**
   * The error for a status without a JSON-RPC message. With a status below 500, or 503, the request
   * was not executed.
   */
  BridgeException statusError() {
    int status = response.statusCode();
    String detail = "The server answered HTTP " + status;
    if (status == 429 || status == 503) {
      ErrorCode code = status == 429 ? ErrorCode.RATE_LIMITED : ErrorCode.OVERLOADED;
      return new BridgeException(code, detail).withRetryAfter(retryAfterMillis());
    }
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, detail)
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
   * Cancels the response and releases its memory. A response that is paused for memory may already
   * have arrived completely, so that its connection serves another request; therefore it is resumed
   * first, and the request is reset only if the body has not ended then.
   */
  public void abort() {
    isCancelled = true;
    if (backpressuredBody == null) {
      request.reset(CANCEL);
      return;
    }
    backpressuredBody.end();
    response.resume();
    vertx.runOnContext(
        resumed -> {
          if (!ended) {
            request.reset(CANCEL);
          }
        });
  }

  private void take(BodyReader bodyReader, Buffer chunk) {
    if (!isCancelled) {
      backpressuredBody.onBuffered(bodyReader.take(chunk));
    }
  }
}
