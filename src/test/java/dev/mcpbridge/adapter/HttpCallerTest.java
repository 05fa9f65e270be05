package dev.mcpbridge.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.LocalServer;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.junit5.VertxExtension;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Decompression of responses under memory pressure. */
@ExtendWith(VertxExtension.class)
class HttpCallerTest {
  private static final int LARGE = 100_000;
  private static final int MAX = 1 << 20;

  private final MemoryBudget memory = new MemoryBudget(MAX);
  private Vertx vertx;
  private HttpCaller caller;
  private URI url;

  @BeforeEach
  void listen(Vertx vertx) throws Exception {
    this.vertx = vertx;
    caller = new HttpCaller(vertx, new HttpAccess(Map.of(), null, null), memory, () -> true);
    url =
        LocalServer.listen(
            vertx,
            request ->
                request
                    .response()
                    .putHeader("content-encoding", "gzip")
                    .end(zipped(Integer.parseInt(request.path().substring(1)))));
  }

  private static Buffer zipped(int size) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
      zip.write(new byte[size]);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return Buffer.buffer(bytes.toByteArray());
  }

  private HttpCaller.Exchange get(int size) {
    return caller.send(HttpMethod.GET, url.resolve("/" + size), MAX, HttpClientRequest::send);
  }

  private int length(int size) throws Exception {
    return EventLoops.await(vertx, () -> get(size).withTimeout(20_000).response()).body().length();
  }

  @Test
  void smallResponseDoesNotWaitForMemory() throws Exception {
    memory.addUnread(MAX);

    assertEquals(1_000, length(1_000));
  }

  @Test
  void largeResponseWaitsForMemory() throws Exception {
    memory.addUnread(MAX);
    Future<HttpCaller.Response> answer =
        EventLoops.await(
            vertx,
            () -> {
              Future<HttpCaller.Response> large = get(LARGE).response();
              return vertx.timer(300).map(large);
            });
    assertFalse(answer.isComplete());

    memory.removeUnread(MAX);

    assertEquals(LARGE, answer.await(20, TimeUnit.SECONDS).body().length());
  }

  @Test
  void cancelledResponsesDoNotBlockTheQueue() throws Exception {
    memory.addUnread(MAX);
    List<HttpCaller.Exchange> waiting = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          for (int i = 0; i < 600; i++) {
            waiting.add(get(LARGE));
          }
          return vertx.timer(1_500);
        });

    EventLoops.await(
        vertx,
        () -> {
          waiting.forEach(HttpCaller.Exchange::cancel);
          return vertx.timer(100);
        });
    memory.removeUnread(MAX);

    assertEquals(LARGE, length(LARGE));
  }
}
