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
 * A body as it arrives, for one thread that waits for it no longer than its patience, and hears
 * when it is interrupted.
 */
final class ResponseBodyReader implements Flow.Subscriber<List<ByteBuffer>>, AutoCloseable {
  private static final Object END = new Object();

  private final BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
  private final Duration patience;
  private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

  ResponseBodyReader(Duration patience) {
    this.patience = patience;
  }

  @Override
  public void onSubscribe(Flow.Subscription begun) {
    subscription.complete(begun);
    begun.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> bytes) {
    arrived.add(bytes);
  }

  @Override
  public void onError(Throwable failure) {
    arrived.add(failure);
  }

  @Override
  public void onComplete() {
    arrived.add(END);
  }

  /**
   * The next bytes; null at the end.
   *
   * @throws HttpTimeoutException where nothing came for too long
   * @throws IOException where it broke off
   */
  byte[] next() throws IOException, InterruptedException {
    Object next = arrived.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    if (next == END) {
      return null;
    }
    if (next instanceof List<?> buffers) {
      subscription.join().request(1);
      return joined(buffers);
    }
    throw next == null
        ? new HttpTimeoutException("nothing came for " + patience.toSeconds() + " s")
        : new IOException("it broke off: " + ((Throwable) next).getMessage());
  }

  private static byte[] joined(List<?> buffers) {
    int length = buffers.stream().mapToInt(buffer -> ((ByteBuffer) buffer).remaining()).sum();
    ByteBuffer all = ByteBuffer.allocate(length);
    buffers.forEach(buffer -> all.put((ByteBuffer) buffer));
    return all.array();
  }

  /** What is on its way is not read any more, and its connection is closed. */
  @Override
  public void close() {
    subscription.thenAccept(Flow.Subscription::cancel);
  }
}
