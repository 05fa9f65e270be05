package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of a server that has no catalogue yet. */
@ExtendWith(VertxExtension.class)
class CallPipelineTest {
  private OneServer server;

  @BeforeEach
  void open(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    server = new OneServer(vertx);
  }

  private Future<CallOutcome> run() {
    return server.pipeline.run(OneServer.request("c"));
  }

  @Test
  void callWaitsForFirstStart() throws Exception {
    EventLoops.await(
        server.vertx,
        () -> {
          Future<CallOutcome> outcome = run();
          server.becomeReady();
          return outcome;
        });

    assertEquals(1, server.runs());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callCancelledDuringFirstStartFailsAndDoesNotRun(boolean starts) {
    BridgeException failure =
        assertThrows(
            BridgeException.class,
            () ->
                EventLoops.await(
                    server.vertx,
                    () -> {
                      Future<CallOutcome> outcome = run();
                      server.pipeline.cancel("c", "The client disconnected");
                      if (starts) {
                        server.becomeReady();
                      }
                      return outcome;
                    }));

    assertEquals(ErrorCode.CANCELLED, failure.code());
    assertEquals(Executed.NO, failure.executed());
    assertEquals(0, server.runs());
  }
}
