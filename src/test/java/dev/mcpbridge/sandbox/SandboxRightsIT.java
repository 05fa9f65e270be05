package dev.mcpbridge.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls in containers of a node that currently may not start calls, on a real engine. */
@ExtendWith(VertxExtension.class)
class SandboxRightsIT {
  private static final ServerId SERVER = new ServerId("s");
  private static Engine engine;

  private final AtomicBoolean mayAct = new AtomicBoolean();
  private final AtomicInteger checks = new AtomicInteger();
  private Vertx vertx;
  private Bus bus;
  private String deploymentId;

  @BeforeAll
  static void find() throws Exception {
    engine = Engine.local();
  }

  /** A pool with one container, started in advance. */
  @BeforeEach
  void serve(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    this.vertx = vertx;
    bus = BusFixture.of(vertx);
    String json =
        "{'mcpServers':{'s':{'riskLevel':3,'docker':{'image':'%s','pool':{'min':1,'max':1}}}}}"
            .formatted(Engine.IMAGE);
    BridgeConfig config =
        new ConfigReader(Map.of()).read(TestBridge.json(json), Strictness.ALL_OR_NOTHING);
    Sandboxes sandboxes =
        new Sandboxes(
            vertx,
            bus,
            this::isAllowed,
            new CallerLimits(() -> false, new Quotas(List.of(), () -> 1), new Urgencies(List.of())),
            config.sandbox(),
            new BridgeIdentity("1", () -> "me"));
    StdioTransport.Limits limits =
        new StdioTransport.Limits(1 << 20, 100, 1 << 21, new MemoryBudget(1 << 20));
    deploymentId =
        await(
            vertx.deployVerticle(
                sandboxes
                    .of(
                        InstanceId.first(SERVER),
                        config.servers().get(SERVER),
                        limits,
                        new ServerLog(Clock.systemUTC(), List.of()),
                        () -> 1_000)
                    .orElseThrow()));
  }

  @AfterEach
  void assertNoContainersLeft() throws Exception {
    await(vertx.undeploy(deploymentId));
    assertEquals(List.of(), engine.containers());
  }

  private boolean isAllowed() {
    checks.incrementAndGet();
    return mayAct.get();
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.await(60, TimeUnit.SECONDS);
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, "the condition did not become true in time");
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** Waits for a ready container: its start triggers a check whether calls may start. */
  private String awaitReady() throws Exception {
    until(() -> checks.get() > 0);
    return engine.containers().get(0);
  }

  private void awaitChecks() throws Exception {
    int before = checks.get();
    until(() -> checks.get() > before + 5);
  }

  private Future<JsonSlice> call(String id, String tool, String arguments) {
    return run(newCall(id, tool, arguments));
  }

  private static Call newCall(String id, String tool, String arguments) {
    return new Call(
        id,
        SERVER,
        Target.tool(tool),
        JsonSlice.of(arguments),
        Caller.named("a"),
        System.nanoTime() + TimeUnit.SECONDS.toNanos(50),
        false,
        Envelope.NONE,
        new CancellationToken());
  }

  private Future<JsonSlice> run(Call call) {
    Promise<JsonSlice> answer = Promise.promise();
    vertx.runOnContext(v -> bus.request(Addresses.isolated(SERVER), call).onComplete(answer));
    return answer.future();
  }

  /** Allows calls to start and returns the result of a waiting call. */
  private JsonSlice allowAndAwait(Future<JsonSlice> call) throws Exception {
    assertFalse(call.isComplete());
    mayAct.set(true);
    JsonSlice answer = await(call);
    assertTrue(answer.text().contains("\"hi\""), answer.text());
    return answer;
  }

  private static void assertRanIn(String container, JsonSlice answer) {
    assertTrue(answer.text().contains(container), answer.text());
  }

  @Test
  void aCallThatMayNotStartWaitsDespiteAReadyContainer() throws Exception {
    String ready = awaitReady();

    Future<JsonSlice> call = call("c", "echo", "{\"text\":\"hi\"}");
    awaitChecks();

    assertRanIn(ready, allowAndAwait(call));
  }

  @Test
  void aQueuedCallThatMayNotStartIgnoresANewContainer() throws Exception {
    mayAct.set(true);
    String first = awaitReady();
    Future<JsonSlice> running = call("c", "sleep", "{\"seconds\":5}");
    until(() -> engine.isRunning("sleep"));
    Future<JsonSlice> waiting = call("d", "echo", "{\"text\":\"hi\"}");
    mayAct.set(false);

    assertRanIn(first, await(running));
    until(() -> engine.containers().stream().anyMatch(each -> !each.equals(first)));
    awaitChecks();

    JsonSlice answer = allowAndAwait(waiting);
    assertFalse(answer.text().contains(first), answer.text());
  }

  @Test
  void aCallCancelledWhileItMayNotStartNeverRuns() throws Exception {
    String ready = awaitReady();
    Call call = newCall("c", "echo", "{}");
    Future<JsonSlice> answer = run(call);
    awaitChecks();

    call.cancellation().cancel("no longer needed");

    BridgeException failure = assertThrows(BridgeException.class, () -> await(answer));
    assertEquals(ErrorCode.CANCELLED, failure.code());
    mayAct.set(true);
    assertRanIn(ready, await(call("d", "echo", "{\"text\":\"hi\"}")));
  }
}
