package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import io.vertx.junit5.VertxExtension;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests of a node that currently may not act. */
@ExtendWith(VertxExtension.class)
class HttpSenderTest {
  private final AtomicBoolean mayAct = new AtomicBoolean();
  private final Semaphore checks = new Semaphore(0);
  private final AtomicInteger received = new AtomicInteger();
  private HttpSender sender;
  private URI url;

  private boolean isAllowed() {
    checks.release();
    return mayAct.get();
  }

  @BeforeEach
  void listen(Vertx vertx) throws Exception {
    sender =
        new HttpSender(
            vertx,
            new HttpAccess(Map.of(), null, null),
            new MemoryBudget(1 << 20),
            this::isAllowed);
    url =
        LocalServer.listen(
                vertx,
                request -> {
                  received.incrementAndGet();
                  request.response().end();
                })
            .resolve("/");
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.await(20, TimeUnit.SECONDS);
  }

  private PendingRequest post() {
    return sender.send(HttpMethod.POST, url, HttpClientRequest::send);
  }

  private void awaitChecks() throws Exception {
    checks.drainPermits();
    assertTrue(checks.tryAcquire(3, 20, TimeUnit.SECONDS));
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
    assertTrue(pendingRequest.response().failed());

    assertEquals(200, await(post().response()).response().statusCode());
    assertEquals(1, received.get());
  }

  @Test
  void aWaitingRequestIsNotExecutedWhenTheSenderCloses() throws Exception {
    PendingRequest pendingRequest = post();
    awaitChecks();

    sender.close();

    BridgeException failure =
        assertThrows(BridgeException.class, () -> await(pendingRequest.response()));
    assertEquals(ErrorCode.NOT_OWNER, failure.code());
    assertEquals(Executed.NO, failure.executed());
    assertEquals(0, received.get());
  }
}
