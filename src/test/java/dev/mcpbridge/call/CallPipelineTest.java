package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.model.AuditRecord.Need;
import dev.mcpbridge.model.Confirmation;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of one server, which has no catalogue at first. */
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

  /** Calls that need a human or a container are also recorded before they run (audit.strict). */
  @Test
  void decisionsAboveLevelOneMustBeOnTheDisk() throws Exception {
    // Given
    Map<String, Need> needs = new LinkedHashMap<>();
    Future<Confirmation> pending = server.nextConfirmation();
    server.record(
        record -> {
          if (record.event().equals("call.decision")) {
            needs.put(
                record.toString().replaceAll(".*\"decision\":\"(\\w+)\".*", "$1"), record.need());
          }
          return Future.succeededFuture();
        });
    server.becomeReady();

    // When
    for (Decision decision : Decision.values()) {
      server.decide(decision);
      EventLoops.await(server.vertx, () -> run().otherwiseEmpty());
    }

    // Then
    assertEquals(
        Map.of("allow", Need.ACCEPTED, "confirm", Need.DURABLE, "isolate", Need.DURABLE), needs);

    // When
    needs.clear();
    server.decide(Decision.CONFIRM);
    Confirmation approved = pending.await(20, TimeUnit.SECONDS);
    EventLoops.await(server.vertx, () -> server.pipeline.runApproved(approved, false));

    // Then
    assertEquals(Map.of("allow", Need.DURABLE), needs);
    assertEquals(2, server.runs());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void approvedCallRunsOnlyOnceItsDecisionIsRecorded(boolean isRecorded) throws Exception {
    // Given
    Future<Confirmation> pending = server.nextConfirmation();
    server.becomeReady();
    server.decide(Decision.CONFIRM);
    EventLoops.await(server.vertx, this::run);
    Promise<Void> written = Promise.promise();
    Promise<Void> asked = Promise.promise();
    server.record(
        record -> {
          asked.tryComplete();
          return record.event().equals("call.decision")
              ? written.future()
              : Future.succeededFuture();
        });

    // When
    Confirmation approved = pending.await(20, TimeUnit.SECONDS);
    Future<CallOutcome> outcome =
        EventLoops.await(
            server.vertx,
            () -> {
              Future<CallOutcome> begun = server.pipeline.runApproved(approved, false);
              return asked.future().map(begun);
            });

    // Then
    assertFalse(outcome.isComplete());
    assertEquals(0, server.runs());

    // When
    EventLoops.await(
        server.vertx,
        () -> {
          if (isRecorded) {
            written.complete();
          } else {
            written.fail(new BridgeException(ErrorCode.AUDIT_UNAVAILABLE, "The disk is full"));
          }
          return outcome.transform(ended -> Future.succeededFuture());
        });

    // Then
    assertEquals(isRecorded, outcome.succeeded());
    assertEquals(isRecorded ? 1 : 0, server.runs());
  }
}
