package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.config.HttpAccess;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.LocalServer;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests of a node that currently may not act. */
class HttpSenderTest {
  private final Vertx vertx = Vertx.vertx();
  private final AtomicBoolean mayAct = new AtomicBoolean();
  private final AtomicInteger checks = new AtomicInteger();
  private final AtomicInteger received = new AtomicInteger();
  private final HttpSender sender =
      new HttpSender(
          vertx, new HttpAccess(Map.of(), null), new MemoryBudget(1 << 20), this::isAllowed);
  private URI url;

  private boolean isAllowed() {
    checks.incrementAndGet();
    return mayAct.get();
  }

  @BeforeEach
  void listen() throws Exception {
    url =
        LocalServer.listen(
                vertx,
                request -> {
                  received.incrementAndGet();
                  request.response().end();
                })
            .resolve("/");
  }

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private PendingRequest post() {
    return sender.send(HttpMethod.POST, url, HttpClientRequest::send);
  }

  private void awaitChecks() throws Exception {
    for (int before = checks.get(); checks.get() < before + 3; ) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  @Test
  void aRequestWaitsUntilSendingIsAllowed() throws Exception {
    PendingRequest pendingRequest = post();
    awaitChecks();
    assertEquals(0, received.get());

    mayAct.set(true);

    assertEquals(200, await(pendingRequest.response()).response().statusCode());
    assertEquals(1, received.get());
  }

  @Test
  void aRequestCancelledWhileWaitingIsNeverSent() throws Exception {
    PendingRequest pendingRequest = post();
    awaitChecks();
    pendingRequest.cancel();

    mayAct.set(true);
    assertThrows(ExecutionException.class, () -> await(pendingRequest.response()));

    assertEquals(200, await(post().response()).response().statusCode());
    assertEquals(1, received.get());
  }

  @Test
  void aWaitingRequestIsNotExecutedWhenTheSenderCloses() throws Exception {
    PendingRequest pendingRequest = post();
    awaitChecks();

    sender.close();

    Throwable failure =
        assertThrows(ExecutionException.class, () -> await(pendingRequest.response())).getCause();
    BridgeException bridgeFailure = assertInstanceOf(BridgeException.class, failure);
    assertEquals(ErrorCode.NOT_OWNER, bridgeFailure.code());
    assertEquals(Executed.NO, bridgeFailure.executed());
    assertEquals(0, received.get());
  }
}
