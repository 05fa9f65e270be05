package dev.mcpbridge.http.reply;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Writes a response in compressed parts, in their order. A large part is compressed on a worker
 * thread, and later ones wait for it. Confined to the event loop.
 */
final class GzipStream {
  private final Compression compression;
  private final HttpServerResponse response;
  private final GzipEncoder encoder = new GzipEncoder();
  private final Deque<Part> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private boolean isBusy;
  private Promise<Void> end;

  private record Part(Buffer content, boolean compresses, Promise<Void> written) {}

  GzipStream(Compression compression, HttpServerResponse response) {
    this.compression = compression;
    this.response = response;
  }

  /** Writes a part, as it is or compressed; succeeds when the client has it. */
  Future<Void> write(Buffer content, boolean compresses) {
    Part part = new Part(content, compresses, Promise.promise());
    waiting.add(part);
    waitingBytes += content.length();
    writeWaiting();
    return part.written.future();
  }

  /** Bytes that were not yet given to the connection. */
  long waitingBytes() {
    return waitingBytes;
  }

  /** Ends the response after the last part. */
  Future<Void> end() {
    Promise<Void> ended = Promise.promise();
    end = ended;
    writeWaiting();
    return ended.future();
  }

  private void writeWaiting() {
    while (!isBusy && !waiting.isEmpty()) {
      Part part = waiting.remove();
      if (part.compresses && Compression.isLarge(part.content)) {
        isBusy = true;
        compression
            .onWorker(part.content.length(), () -> encoder.part(part.content, true))
            .onComplete(
                encoded -> {
                  isBusy = false;
                  write(part, encoded);
                  writeWaiting();
                },
                failure -> {
                  waitingBytes -= part.content.length();
                  part.written.fail(failure);
                });
      } else {
        write(part, encoder.part(part.content, part.compresses));
      }
    }
    if (!isBusy && end != null) {
      response.end(encoder.end()).onComplete(end);
      end = null;
    }
  }

  private void write(Part part, Buffer encoded) {
    waitingBytes -= part.content.length();
    response.write(encoded).onComplete(part.written);
  }
}
