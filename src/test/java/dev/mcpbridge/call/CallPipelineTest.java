package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.Decision;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Solo;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.Looks;
import dev.mcpbridge.fixture.Loops;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Residence;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls of a server that has not said yet what it offers. */
class CallPipelineTest {
  private static final ServerId ID = new ServerId("s");

  private final Vertx vertx = Bridge.vertx();
  private final Solo cluster = new Solo(Clock.systemUTC());
  private final Bus bus = Bus.create(vertx, cluster, new Counts());
  private final Directory directory = new Directory(bus, cluster);
  private final MemoryBudget memory = new MemoryBudget(1 << 20);
  private final CallPipeline pipeline =
      new CallPipeline(
          bus,
          directory,
          new ArgumentSchemas(vertx),
          new OutputSchemas(vertx, bus),
          new UpstreamCredentials(Clock.systemUTC()),
          memory,
          new Counts());
  private final Promise<ServerView> ready = Promise.promise();
  private int runs;

  private static ServerView view(Catalogue catalogue) {
    return Looks.of(ID, new ServerState.Starting(0), catalogue, null, Residence.SOLE);
  }

  @BeforeEach
  void open() throws Exception {
    Loops.await(
        vertx,
        () -> {
          directory.open();
          bus.serve(Addresses.ASSESS, question -> Future.succeededFuture(Decision.ALLOW));
          bus.serve(Addresses.ready(ID), millis -> ready.future());
          bus.serve(
              Addresses.call(ID),
              call -> {
                runs++;
                return Future.succeededFuture(JsonSlice.EMPTY_OBJECT);
              });
          Promise<Void> known = Promise.promise();
          bus.subscribe(Addresses.PART_CHANGED, view -> known.complete());
          bus.publish(Addresses.PART_CHANGED, view(null));
          return known.future();
        });
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private Future<CallOutcome> run() {
    Target target = new Target(Target.Kind.RESOURCE, "r");
    return pipeline.run(new CallRequest("c", ID, target, Arguments.NONE, Caller.of("a"), false));
  }

  @Test
  void aCallWaitsForTheFirstStart() throws Exception {
    Loops.await(
        vertx,
        () -> {
          Future<CallOutcome> asked = run();
          ready.complete(view(Catalogue.EMPTY));
          return asked;
        });

    assertEquals(1, runs);
  }

  @Test
  void aCallThatIsGivenUpWhileItWaitsForTheFirstStartDoesNotRun() {
    BridgeException failure =
        assertThrows(
            BridgeException.class,
            () ->
                Loops.await(
                    vertx,
                    () -> {
                      Future<CallOutcome> asked = run();
                      pipeline.cancel(ID, "c", "The client has left");
                      ready.complete(view(Catalogue.EMPTY));
                      return asked;
                    }));

    assertEquals(ErrorCode.CANCELLED, failure.code());
    assertEquals(Executed.NO, failure.executed());
    assertEquals(0, runs);
  }
}
