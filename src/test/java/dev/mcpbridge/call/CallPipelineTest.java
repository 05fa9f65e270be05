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

/** Calls of a server that has not said yet what it offers. */
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
  void aCallWaitsForTheFirstStart() throws Exception {
    EventLoops.await(
        server.vertx,
        () -> {
          Future<CallOutcome> asked = run();
          server.isReady();
          return asked;
        });

    assertEquals(1, server.runs());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCallThatIsGivenUpWhileItWaitsForTheFirstStartEndsThenAndDoesNotRun(boolean starts) {
    BridgeException failure =
        assertThrows(
            BridgeException.class,
            () ->
                EventLoops.await(
                    server.vertx,
                    () -> {
                      Future<CallOutcome> asked = run();
                      server.pipeline.cancel(OneServer.ID, "c", "The client has left");
                      if (starts) {
                        server.isReady();
                      }
                      return asked;
                    }));

    assertEquals(ErrorCode.CANCELLED, failure.code());
    assertEquals(Executed.NO, failure.executed());
    assertEquals(0, server.runs());
  }
}
