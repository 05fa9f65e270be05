package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.LocalServer;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.junit5.VertxExtension;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Responses that are cancelled while they wait for memory. */
@ExtendWith(VertxExtension.class)
class ClientResponseTest {
  private static final int SIZE = MemoryBudget.LARGE + 1000;
  private static final int MAX = 1 << 20;

  private final MemoryBudget memory = new MemoryBudget(SIZE);
  private final Set<HttpConnection> connections = ConcurrentHashMap.newKeySet();
  private final Promise<HttpServerRequest> secondRequest = Promise.promise();
  private final Promise<Buffer> body = Promise.promise();
  private Vertx vertx;
  private HttpSender sender;
  private URI url;

  @BeforeEach
  void listen(Vertx vertx) throws Exception {
    this.vertx = vertx;
    sender = new HttpSender(vertx, new HttpAccess(Map.of(), null, null), memory, () -> true);
    url = LocalServer.listen(vertx, this::answer);
  }

  private void answer(HttpServerRequest request) {
    connections.add(request.connection());
    if (request.path().equals("/second")) {
      secondRequest.complete(request);
    } else {
      request.response().end(Buffer.buffer(new byte[SIZE]));
    }
  }

  private Future<ClientResponse> get(String path) {
    return sender.send(HttpMethod.GET, url.resolve(path), HttpClientRequest::send).response();
  }

  /** The end of a short response has arrived when its connection is reused. */
  @Test
  void cancellingACompleteResponseKeepsItsConnection() throws Exception {
    memory.addUnread(SIZE);
    ClientResponse first =
        EventLoops.await(
            vertx,
            () ->
                get("/first")
                    .onSuccess(clientResponse -> clientResponse.body(MAX).onComplete(body))
                    .compose(clientResponse -> vertx.timer(300).map(clientResponse)));
    Future<ClientResponse> next =
        EventLoops.await(vertx, () -> Future.succeededFuture(get("/second")));
    HttpServerRequest secondServerRequest = secondRequest.future().await(20, TimeUnit.SECONDS);

    assertEquals(1, connections.size());
    EventLoops.await(
        vertx,
        () -> {
          first.abort();
          return vertx.timer(100);
        });
    secondServerRequest.response().end();
    assertThrows(Exception.class, () -> body.future().await(20, TimeUnit.SECONDS));

    assertEquals(200, next.await(20, TimeUnit.SECONDS).response().statusCode());
    memory.removeUnread(SIZE);
    assertEquals(0, memory.held());
  }

  @Test
  void cancellingAnIncompleteResponseClosesItsConnection() throws Exception {
    memory.addUnread(SIZE);
    ClientResponse first =
        EventLoops.await(
            vertx,
            () ->
                get("/first")
                    .onSuccess(clientResponse -> clientResponse.body(MAX).onComplete(body)));

    EventLoops.await(
        vertx,
        () -> {
          first.abort();
          return Future.succeededFuture();
        });
    memory.removeUnread(SIZE);

    assertEquals(0, memory.held());
    assertEquals(
        SIZE,
        EventLoops.await(
                vertx, () -> get("/first").compose(clientResponse -> clientResponse.body(MAX)))
            .length());
  }
}
