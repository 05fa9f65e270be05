package dev.mcpbridge.llm;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A request and its response, which is read as it arrives. One thread reads; its reads block up to
 * a timeout and can be interrupted. Closing cancels the request at any time.
 */
final class ModelExchange implements AutoCloseable {
  private static final int MAX_ANSWER = 32 << 20;
  private static final Optional<byte[]> TOO_LARGE = Optional.of(new byte[0]);

  private final Duration timeout;
  private final CompletableFuture<HttpResponse.ResponseInfo> head = new CompletableFuture<>();

  /** The body as it arrives; empty at its end. */
  private final BlockingQueue<Optional<byte[]>> body = new LinkedBlockingQueue<>();

  private final CompletableFuture<HttpResponse<Void>> whole;
  private int received;
  private boolean isRead;
  private volatile Throwable failure;

  ModelExchange(HttpClient client, HttpRequest request, Duration timeout) {
    this.timeout = timeout;
    this.whole =
        client.sendAsync(
            request,
            response -> {
              head.complete(response);
              return HttpResponse.BodySubscribers.ofByteArrayConsumer(this::receive);
            });
    whole.exceptionally(
        thrown -> {
          failure = thrown instanceof CompletionException ? thrown.getCause() : thrown;
          head.completeExceptionally(failure);
          body.add(Optional.empty());
          return null;
        });
  }

  /** Called by the HTTP client for each part in order; discards what is beyond the limit. */
  private void receive(Optional<byte[]> bytes) {
    if (received <= MAX_ANSWER) {
      received += bytes.map(part -> part.length).orElse(0);
      body.add(received <= MAX_ANSWER ? bytes : TOO_LARGE);
    }
  }

  /**
   * Waits for the status and the headers.
   *
   * @throws ExecutionException if the request failed before
   */
  HttpResponse.ResponseInfo head()
      throws ExecutionException, InterruptedException, TimeoutException {
    return head.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Waits for the next bytes; null at the end.
   *
   * @throws HttpTimeoutException if nothing has arrived within the timeout
   * @throws IOException if the body ended prematurely
   * @throws BridgeException if the body is too large
   */
  byte[] next() throws IOException, InterruptedException {
    Optional<byte[]> next = body.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null) {
      throw new HttpTimeoutException("no data for " + timeout.toSeconds() + " s");
    }
    if (next == TOO_LARGE) {
      throw new BridgeException(ErrorCode.RESPONSE_TOO_LARGE, "The model's answer is too large");
    }
    isRead = next.isEmpty();
    if (isRead && failure != null) {
      throw new IOException("the response ended prematurely: " + failure.getMessage());
    }
    return next.orElse(null);
  }

  byte[] readAll() throws IOException, InterruptedException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] bytes = next(); bytes != null; bytes = next()) {
      all.writeBytes(bytes);
    }
    return all.toByteArray();
  }

  /** Closes the connection unless the body has been read to its end. */
  @Override
  public void close() {
    if (!isRead) {
      whole.cancel(true);
    }
  }
}
