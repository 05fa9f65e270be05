package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests within a node, and handlers that are registered and unregistered. */
@ExtendWith(VertxExtension.class)
class BusTest {
  private static final Address<String, String> ADDRESS = Address.local("somewhere");

  private Vertx vertx;
  private Bus bus;

  @BeforeEach
  void create(@ProvidedBy(BridgeVertx.class) Vertx vertx) {
    this.vertx = vertx;
    bus = BusFixture.of(vertx);
  }

  private void assertNotDelivered(Supplier<Future<String>> action) {
    BridgeException failure =
        assertThrows(BridgeException.class, () -> EventLoops.await(vertx, action));
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
    assertEquals(Executed.NO, failure.executed());
  }

  @Test
  void handlerAnswersRequest() throws Exception {
    bus.serve(ADDRESS, request -> Future.succeededFuture(request + "!"));

    assertEquals("who!", EventLoops.await(vertx, () -> bus.request(ADDRESS, "who")));
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
    EventLoops.await(vertx, () -> Future.succeededFuture("a later turn"));
    answer.complete("me");

    assertEquals("me", response.await(20, TimeUnit.SECONDS));
  }

  @Test
  void handlerRegisteredLaterAnswers() throws Exception {
    Runnable unregister = bus.serve(ADDRESS, request -> Future.succeededFuture("the first"));

    assertEquals(
        "the second",
        EventLoops.await(
            vertx,
            () -> {
              unregister.run();
              bus.serve(ADDRESS, request -> Future.succeededFuture("the second"));
              return bus.request(ADDRESS, "who");
            }));
  }
}
