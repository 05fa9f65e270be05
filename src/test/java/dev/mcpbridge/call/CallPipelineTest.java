package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of a server that has no catalogue yet. */
class CallPipelineTest {
  private OneServer server;

  @BeforeEach
  void open() throws Exception {
    server = new OneServer();
  }

  @AfterEach
  void close() throws Exception {
    server.close();
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
                      server.pipeline.cancel(OneServer.ID, "c", "The client disconnected");
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
