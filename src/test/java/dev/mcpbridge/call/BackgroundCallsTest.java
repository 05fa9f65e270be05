package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.call.BackgroundCalls.BackgroundCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.time.Clock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls that are cancelled before they start, or cannot start. */
@ExtendWith(VertxExtension.class)
class BackgroundCallsTest {
  private OneServer server;
  private BackgroundCalls calls;

  @BeforeEach
  void open(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    server = new OneServer(vertx);
    calls =
        new BackgroundCalls(
            server.vertx,
            server.bus,
            server.pipeline,
            Clock.systemUTC(),
            server.cluster,
            () -> false);
  }

  @Test
  void callCancelledBeforeItStartsDoesNotRun() throws Exception {
    Promise<Void> mayStart = Promise.promise();

    BackgroundCall ended =
        EventLoops.await(
            server.vertx,
            () ->
                calls
                    .add(
                        OneServer.request("c"),
                        () -> server.pipeline.register(OneServer.request("c"), () -> run(mayStart)))
                    .compose(
                        call -> {
                          Future<BackgroundCall> cancelled = calls.cancel(call);
                          mayStart.complete();
                          server.becomeReady();
                          return cancelled;
                        }));

    BridgeException failure = assertInstanceOf(BridgeException.class, ended.outcome().cause());
    assertEquals(ErrorCode.CANCELLED, failure.code());
    assertEquals(0, server.runs());
  }

  private Future<CallOutcome> run(Promise<Void> mayStart) {
    return mayStart.future().compose(start -> server.pipeline.run(OneServer.request("c")));
  }

  @Test
  void callsThatFailToStartTakeNoQuota() throws Exception {
    for (int i = 0; i < 10_001; i++) {
      CallRequest request = OneServer.request("c" + i);
      assertThrows(BridgeException.class, () -> calls.add(request, BackgroundCallsTest::refused));
    }

    BackgroundCall call =
        EventLoops.await(
            server.vertx,
            () -> calls.add(OneServer.request("c"), () -> Promise.<CallOutcome>promise().future()));

    assertEquals("c", call.id());
  }

  private static Future<CallOutcome> refused() {
    throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "No such key");
  }
}
