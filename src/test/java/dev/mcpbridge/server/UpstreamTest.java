package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.bus.Addresses.ResourceSubscription;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import dev.mcpbridge.trace.Telemetry;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportFactory;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers whose transports fail at once, never open, break, or end slowly. */
@ExtendWith(VertxExtension.class)
class UpstreamTest {
  private static final ServerId ID = new ServerId("s");
  private static final long LONG_MILLIS = 60_000;
  private static final long MAX_RESTART_DELAY_MILLIS = 200;
  private static final BridgeException NO_ENGINE =
      new BridgeException(ErrorCode.ISOLATION_UNAVAILABLE, "No engine answers");

  private final List<ScriptedTransport> transports = new CopyOnWriteArrayList<>();
  private Vertx vertx;
  private Context context;

  @BeforeEach
  void create(Vertx vertx) {
    this.vertx = vertx;
    context = vertx.getOrCreateContext();
  }

  private Future<Transport> open(TransportListener listener) {
    ScriptedTransport transport = new ScriptedTransport(context, listener);
    transports.add(transport);
    return Future.succeededFuture(transport);
  }

  private static Call call(String id) {
    return new Call(
            id,
            ID,
            Target.tool("t"),
            JsonSlice.EMPTY_OBJECT,
            Caller.named("a"),
            0,
            false,
            Envelope.NONE,
            new CancellationToken())
        .withTimeout(LONG_MILLIS);
  }

  private static ServerConfig config(String entry) {
    BridgeConfig config =
        new ConfigReader(Map.of())
            .read("{\"mcpServers\":{\"s\":" + entry + "}}", Strictness.ALL_OR_NOTHING);
    return config.servers().get(ID);
  }

  private Instance.InstanceEnvironment environment(
      TransportFactory transportFactory, InstanceLocation instanceLocation) {
    return new Instance.InstanceEnvironment(
        context,
        transportFactory,
        new StdioTransport.Limits(1 << 20, 100, 1 << 21, new MemoryBudget(1 << 20)),
        new BridgeIdentity("1", () -> "me"),
        new ServerLog(Clock.systemUTC(), List.of()),
        new ServerVerticle.Lease(
            instanceLocation,
            () -> true,
            new CallerLimits(
                () -> false, new Quotas(List.of(), () -> 1), new Urgencies(List.of()))),
        new Telemetry(new Counts()));
  }

  private Upstream upstream(TransportFactory transportFactory) {
    return new Upstream(
        config("{\"command\":\"any\",\"maxInFlight\":1}"),
        null,
        environment(transportFactory, InstanceLocation.SOLE),
        IgnoringListener.INSTANCE);
  }

  /** Runs on the context of the server, as all of its methods must. */
  private <T> T await(Supplier<Future<T>> request) throws Exception {
    Promise<T> promise = Promise.promise();
    context.runOnContext(v -> request.get().onComplete(promise));
    return promise.future().await(20, TimeUnit.SECONDS);
  }

  private <T> BridgeException failure(Supplier<Future<T>> request) {
    return assertThrows(BridgeException.class, () -> await(request));
  }

  @Test
  void transportFailureIsFailedStart() throws Exception {
    Upstream upstream =
        upstream(
            (where, upstreamTarget, name, limits, log, listener) -> Future.failedFuture(NO_ENGINE));

    assertEquals(
        ErrorCode.ISOLATION_UNAVAILABLE, failure(() -> upstream.ready(LONG_MILLIS)).code());
    assertInstanceOf(ServerState.Failed.class, upstream.state());
    await(() -> upstream.close(0));
  }

  @Test
  void stoppingServerFailsPendingReadyRequests() throws Exception {
    Promise<Transport> never = Promise.promise();
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> never.future());
    Promise<Future<ServerView>> ready = Promise.promise();
    context.runOnContext(v -> ready.complete(upstream.ready(LONG_MILLIS)));
    Future<ServerView> waiting = ready.future().await(20, TimeUnit.SECONDS);
    assertFalse(waiting.isComplete());

    context.runOnContext(v -> upstream.close(0));

    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure(() -> waiting).code());
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure(() -> upstream.ready(LONG_MILLIS)).code());
  }

  @Test
  void queuedCallsSurviveCrash() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<JsonSlice>> answers = new ArrayList<>();
    await(
        () -> {
          List.of("runs", "waits", "waits, too")
              .forEach(id -> answers.add(upstream.call(call(id))));
          transports.get(0).breakDown();
          return upstream.ready(LONG_MILLIS);
        });

    assertEquals(ErrorCode.UPSTREAM_CRASHED, failure(() -> answers.get(0)).code());
    await(
        () -> {
          transports.get(1).answerCalls();
          return answers.get(1);
        });
    await(
        () -> {
          transports.get(1).answerCalls();
          return answers.get(2);
        });
  }

  @Test
  void concurrentRestartsReplaceProcessOnce() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<ServerView>> restarted = new ArrayList<>();
    await(
        () -> {
          restarted.add(upstream.restart(0));
          restarted.add(upstream.restart(0));
          return Future.succeededFuture();
        });
    assertEquals(1, transports.size());

    transports.get(0).end();

    await(() -> Future.all(restarted));
    assertEquals(2, transports.size());
  }

  @Test
  void subscriptionRequestsForOneResourceAreSentInOrder() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    ScriptedTransport transport = transports.get(0);
    transport.holdsSubscriptions = true;
    Caller caller = Caller.named("a");
    await(
        () -> {
          upstream.watch(new ResourceSubscription("u", true, caller));
          upstream.watch(new ResourceSubscription("u", false, caller));
          upstream.watch(new ResourceSubscription("u", true, caller));
          return Future.succeededFuture();
        });
    assertEquals(1, transport.subscriptionRequests.size());

    transport.answerSubscription(0);
    until(() -> transport.subscriptionRequests.size() == 2);
    transport.answerSubscription(1);
    until(() -> transport.subscriptionRequests.size() == 3);

    assertEquals(
        List.of("resources/subscribe", "resources/unsubscribe", "resources/subscribe"),
        transport.methods().stream().filter(method -> method.startsWith("resources/")).toList());
    transport.end();
    await(() -> upstream.close(0));
  }

  @Test
  void closeWaitsForProcessBeingReplaced() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<Void>> closed = new ArrayList<>();
    await(
        () -> {
          upstream.restart(0);
          closed.add(upstream.close(0));
          return Future.succeededFuture();
        });
    assertFalse(closed.get(0).isComplete());

    transports.get(0).end();

    await(() -> closed.get(0));
    assertEquals(1, transports.size());
  }

  @Test
  void legacyHandshakeOnlyAfterExitDuringDiscovery() throws Exception {
    Upstream upstream =
        new Upstream(
            config("{\"command\":\"any\",\"maxRestartDelay\":0.2}"),
            null,
            environment(
                (where, upstreamTarget, name, limits, log, listener) -> {
                  Future<Transport> opened = open(listener);
                  transports.get(transports.size() - 1).exitsOnDiscovery = transports.size() == 1;
                  return opened;
                },
                InstanceLocation.SOLE),
            IgnoringListener.INSTANCE);
    context.runOnContext(v -> upstream.open());
    until(() -> transports.size() == 2 && upstream.state().takesCalls());
    context.runOnContext(v -> transports.get(1).breakDown());
    until(() -> transports.size() == 3 && upstream.state().takesCalls());

    assertEquals(
        List.of(McpMethod.DISCOVER, McpMethod.INITIALIZE, McpMethod.DISCOVER),
        transports.stream().map(transport -> transport.methods().get(0)).toList());
    transports.get(2).end();
    await(() -> upstream.close(0));
  }

  @Test
  void closedServerOfClusterRejectsCallAsNotOwner() throws Exception {
    Upstreams upstreams =
        new Upstreams(
            config("{\"command\":\"any\",\"isolation\":\"session\"}"),
            environment(
                (where, upstreamTarget, name, limits, log, listener) -> open(listener),
                new InstanceLocation(1, "n", 1)),
            null,
            IgnoringListener.INSTANCE);
    await(() -> upstreams.close(0));

    BridgeException refused = assertThrows(BridgeException.class, () -> upstreams.call(call("c")));

    assertEquals(ErrorCode.NOT_OWNER, refused.code());
  }

  @Test
  void runningCallCanBeCancelledAfterItsClientDisconnected() throws Exception {
    Upstreams upstreams =
        new Upstreams(
            config("{\"command\":\"any\",\"isolation\":\"session\"}"),
            environment(
                (where, upstreamTarget, name, limits, log, listener) -> open(listener),
                InstanceLocation.SOLE),
            null,
            IgnoringListener.INSTANCE);
    List<Future<JsonSlice>> answers = new ArrayList<>();
    Call running = call("c");
    await(
        () -> {
          answers.add(upstreams.call(running));
          return transports.get(0).called.future();
        });

    await(
        () -> {
          upstreams.endConversation(running.caller().conversation(), LONG_MILLIS);
          running.cancellation().cancel("the caller disconnected");
          return Future.succeededFuture();
        });

    assertEquals(ErrorCode.CANCELLED, failure(() -> answers.get(0)).code());
  }

  @Test
  void callThatWasCancelledBeforeItBeginsIsNotSent() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    Call call = call("c");
    call.cancellation().cancel("the caller disconnected");

    BridgeException cancelled =
        failure(() -> Future.succeededFuture().compose(ready -> upstream.call(call)));

    assertEquals(ErrorCode.CANCELLED, cancelled.code());
    assertFalse(transports.get(0).called.future().isComplete());
  }

  @Test
  void queuedCallsFailIfServerReadsNoInput() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<JsonSlice>> waiting = new ArrayList<>();
    await(
        () -> {
          Future<JsonSlice> first = upstream.call(call("first"));
          for (int i = 0; i < 1024; i++) {
            waiting.add(upstream.call(call("c" + i)));
          }
          transports.get(0).isFull = true;
          transports.get(0).answerCalls();
          return first;
        });

    for (Future<JsonSlice> each : waiting) {
      assertEquals(ErrorCode.QUEUE_FULL, failure(() -> each).code());
    }
  }

  @Test
  void listsAreReadAgainAfterChangeDuringReading() throws Exception {
    Upstream upstream =
        upstream((where, upstreamTarget, name, limits, log, listener) -> open(listener));
    context.runOnContext(v -> upstream.open());
    await(() -> upstream.ready(LONG_MILLIS));
    ScriptedTransport server = transports.get(0);
    server.isSlow = true;
    int before = server.listRequests.size();

    context.runOnContext(v -> server.notifyToolsChanged());
    until(() -> server.listRequests.size() == before + 1);
    context.runOnContext(v -> server.notifyToolsChanged());
    TimeUnit.MILLISECONDS.sleep(500); // enough time for a second reading to start
    assertEquals(before + 1, server.listRequests.size());
    server.answerList(server.listRequests.get(before), "newer");
    until(() -> server.listRequests.size() == before + 2);
    server.answerList(server.listRequests.get(before + 1), "newest");

    until(() -> upstream.view().catalogue().tools().containsKey("newest"));
  }

  private static void until(BooleanSupplier condition) throws Exception {
    while (!condition.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** An upstream whose first of two instances has a call in flight. */
  private Upstream busy(TransportFactory transportFactory, List<Future<JsonSlice>> answers)
      throws Exception {
    Upstream upstream =
        new Upstream(
            config("{\"command\":\"any\",\"instances\":2,\"maxRestartDelay\":0.2}"),
            null,
            environment(transportFactory, InstanceLocation.SOLE),
            IgnoringListener.INSTANCE);
    await(() -> upstream.ready(LONG_MILLIS));
    await(
        () -> {
          answers.add(upstream.call(call("c")));
          return transports.get(0).called.future();
        });
    return upstream;
  }

  /** Answers the calls, ends the processes and awaits the given close. */
  private void awaitClosed(Future<Void> closed) throws Exception {
    await(
        () -> {
          transports.get(0).answerCalls();
          transports.forEach(transport -> transport.ended.tryComplete());
          return closed;
        });
  }

  @Test
  void instanceThatIsReadyDuringStopTakesNoCalls() throws Exception {
    Promise<Transport> late = Promise.promise();
    List<Future<JsonSlice>> answers = new ArrayList<>();
    Upstream upstream =
        busy(
            (where, upstreamTarget, name, limits, log, listener) -> {
              Future<Transport> opened = open(listener);
              return transports.size() == 2 ? late.future() : opened;
            },
            answers);
    List<Future<Void>> closed = new ArrayList<>();
    await(
        () -> {
          closed.add(upstream.close(LONG_MILLIS));
          late.complete(transports.get(1));
          return transports.get(1).initialized.future();
        });

    await(() -> vertx.timer(1));

    assertInstanceOf(ServerState.Draining.class, upstream.state());
    awaitClosed(closed.get(0));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noProcessIsStartedDuringStop(boolean endsAtOnce) throws Exception {
    List<Future<JsonSlice>> answers = new ArrayList<>();
    Upstream upstream =
        busy((where, upstreamTarget, name, limits, log, listener) -> open(listener), answers);
    List<Future<Void>> closed = new ArrayList<>();
    await(
        () -> {
          ScriptedTransport second = transports.get(1);
          if (endsAtOnce) {
            second.ended.complete();
          }
          second.listener.closed("it broke");
          closed.add(upstream.close(LONG_MILLIS));
          second.ended.tryComplete();
          return vertx.timer(MAX_RESTART_DELAY_MILLIS + 1);
        });

    assertEquals(2, transports.size());
    assertInstanceOf(ServerState.Draining.class, upstream.state());
    awaitClosed(closed.get(0));
  }
}
