package dev.mcpbridge.llm;

import java.io.IOException;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Reads a response body as it arrives. One thread reads; its reads block up to a timeout and can be
 * interrupted. The subscriber methods are called by the HTTP client.
 */
final class ResponseBodyReader implements Flow.Subscriber<List<ByteBuffer>>, AutoCloseable {
  private static final Object END = new Object();

  private final BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
  private final Duration timeout;
  private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

  ResponseBodyReader(Duration timeout) {
    this.timeout = timeout;
  }

  @Override
  public void onSubscribe(Flow.Subscription newSubscription) {
    subscription.complete(newSubscription);
    newSubscription.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> bytes) {
    queue.add(bytes);
  }

  @Override
  public void onError(Throwable failure) {
    queue.add(failure);
  }

  @Override
  public void onComplete() {
    queue.add(END);
  }

  /**
   * Waits for the next bytes; null at the end.
   *
   * @throws HttpTimeoutException if nothing has arrived within the timeout
   * @throws IOException if the body ended prematurely
   */
  byte[] next() throws IOException, InterruptedException {
    Object next = queue.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
    if (next == END) {
      return null;
    }
    if (next instanceof List<?> buffers) {
      subscription.join().request(1);
      return joined(buffers);
    }
    throw next == null
        ? new HttpTimeoutException("no data for " + timeout.toSeconds() + " s")
        : new IOException("the response ended prematurely: " + ((Throwable) next).getMessage());
  }

  private static byte[] joined(List<?> buffers) {
    int length = buffers.stream().mapToInt(buffer -> ((ByteBuffer) buffer).remaining()).sum();
    ByteBuffer all = ByteBuffer.allocate(length);
    buffers.forEach(buffer -> all.put((ByteBuffer) buffer));
    return all.array();
  }

  /** Cancels the rest of the body and closes its connection. */
  @Override
  public void close() {
    subscription.thenAccept(Flow.Subscription::cancel);
  }
}
