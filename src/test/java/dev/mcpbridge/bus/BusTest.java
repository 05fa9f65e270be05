package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.metrics.Counts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests within a node, and handlers that are registered and unregistered. */
class BusTest {
  private static final Address<String, String> ADDRESS = Address.local("somewhere");

  private final Vertx vertx = Bridge.vertx();
  private final Bus bus = Bus.create(vertx, new SingleNode(Clock.systemUTC()), new Counts());

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  /** Runs the action in one turn of the event loop. */
  private String inOneTurn(Supplier<Future<String>> action) throws Exception {
    Promise<String> response = Promise.promise();
    vertx.runOnContext(v -> action.get().onComplete(response));
    return response.future().await(20, TimeUnit.SECONDS);
  }

  private void assertNotDelivered(Supplier<Future<String>> action) {
    BridgeException failure = assertThrows(BridgeException.class, () -> inOneTurn(action));
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
    assertEquals(Executed.NO, failure.executed());
  }

  @Test
  void handlerAnswersRequest() throws Exception {
    bus.serve(ADDRESS, request -> Future.succeededFuture(request + "!"));

    assertEquals("who!", inOneTurn(() -> bus.request(ADDRESS, "who")));
  }

  @Test
  void requestWithoutHandlerFails() {
    assertNotDelivered(() -> bus.request(ADDRESS, "who"));
  }

  @Test
  void undeliveredRequestFailsWhenHandlerUnregisters() {
    Runnable unregister = bus.serve(ADDRESS, request -> Future.succeededFuture("too late"));

    assertNotDelivered(
        () -> {
          Future<String> response = bus.request(ADDRESS, "who");
          unregister.run();
          return response;
        });
    assertNotDelivered(() -> bus.request(ADDRESS, "who"));
  }

  @Test
  void deliveredRequestIsAnsweredAfterHandlerUnregisters() throws Exception {
    Promise<String> answer = Promise.promise();
    Promise<String> delivered = Promise.promise();
    Runnable unregister =
        bus.serve(
            ADDRESS,
            request -> {
              delivered.complete(request);
              return answer.future();
            });
    Future<String> response = bus.request(ADDRESS, "who");
    delivered.future().await(20, TimeUnit.SECONDS);

    unregister.run();
    inOneTurn(() -> Future.succeededFuture("a later turn"));
    answer.complete("me");

    assertEquals("me", response.await(20, TimeUnit.SECONDS));
  }

  @Test
  void handlerRegisteredLaterAnswers() throws Exception {
    Runnable unregister = bus.serve(ADDRESS, request -> Future.succeededFuture("the first"));

    assertEquals(
        "the second",
        inOneTurn(
            () -> {
              unregister.run();
              bus.serve(ADDRESS, request -> Future.succeededFuture("the second"));
              return bus.request(ADDRESS, "who");
            }));
  }
}
