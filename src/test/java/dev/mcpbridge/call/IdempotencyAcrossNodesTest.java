package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes with a shared map of idempotency keys: no call runs on both. */
class IdempotencyAcrossNodesTest {
  private static final IdempotencyKeys.IdempotencyKey KEY =
      new IdempotencyKeys.IdempotencyKey("a", "POST /x", "k");
  private static final CallOutcome DONE = new CallOutcome.Completed(JsonSlice.of("{\"n\":1.10}"));

  private final SingleNode shared = new SingleNode(Clock.systemUTC());
  private final Set<Integer> lostNodes = new HashSet<>();
  private boolean losesResponse;
  private boolean losesChange;
  private boolean holdsChanges;
  private final List<Runnable> delayedRemovals = new ArrayList<>();
  private boolean delaysRemovals;
  private final IdempotencyKeys nodeA =
      new IdempotencyKeys(Clock.systemUTC(), node(0), null, () -> false);
  private final IdempotencyKeys nodeB =
      new IdempotencyKeys(Clock.systemUTC(), node(1), null, () -> false);
  private int runs;

  @Test
  void outcomeIsReturnedOnTheOtherNode() {
    assertEquals(DONE, once(nodeA, "t").result());
    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(1, runs);
  }

  @Test
  void oneCallerGetsAtMostHalfOfTheKeys() {
    IdempotencyKeys node = new IdempotencyKeys(Clock.systemUTC(), node(0), null, () -> true);
    Future<CallOutcome> last = null;
    for (int i = 0; i <= 10_000; i++) {
      IdempotencyKeys.IdempotencyKey idempotencyKey =
          new IdempotencyKeys.IdempotencyKey("greedy", "POST /x", "" + i);
      last = node.once(idempotencyKey, requestOf("greedy"), () -> Future.succeededFuture(DONE));
    }

    assertFails(ErrorCode.RATE_LIMITED, Executed.NO, last);
    IdempotencyKeys.IdempotencyKey modest =
        new IdempotencyKeys.IdempotencyKey("modest", "POST /x", "k");
    assertEquals(
        DONE, node.once(modest, requestOf("modest"), () -> Future.succeededFuture(DONE)).result());
  }

  private static CallRequest requestOf(String caller) {
    CallRequest request = request("t");
    return new CallRequest(
        request.id(),
        request.server(),
        request.target(),
        request.arguments(),
        Caller.named(caller),
        false);
  }

  @Test
  void runningCallIsInProgressOnTheOtherNode() {
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> first = nodeA.once(KEY, request("t"), running::future);

    assertFails(ErrorCode.IDEMPOTENCY_IN_PROGRESS, Executed.UNKNOWN, once(nodeB, "t"));

    running.complete(DONE);
    assertEquals(DONE, first.result());
    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void callOfLostNodeIsNotRunAgain() {
    nodeA.once(KEY, request("t"), () -> Promise.<CallOutcome>promise().future());
    lostNodes.add(0);

    assertFails(ErrorCode.NODE_LOST, Executed.UNKNOWN, once(nodeB, "t"));
    assertEquals(0, runs);
  }

  @Test
  void differentRequestIsRefusedOnTheOtherNode() {
    once(nodeA, "t");

    assertFails(ErrorCode.IDEMPOTENCY_MISMATCH, Executed.NO, once(nodeB, "other"));
  }

  @Test
  void failureWithoutEffectReleasesTheKeyOnAllNodes() {
    nodeA.once(
        KEY,
        request("t"),
        () -> Future.failedFuture(new BridgeException(ErrorCode.QUEUE_FULL, "full")));

    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(1, runs);
  }

  @Test
  void keyIsUsableAfterLostConfirmationOfItsClaim() {
    losesResponse = true;
    assertFails(ErrorCode.NO_QUORUM, Executed.NO, once(nodeA, "t"));
    assertEquals(0, runs);

    assertEquals(DONE, once(nodeA, "t").result());
    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(1, runs);
  }

  @Test
  void lateReleaseDoesNotFreeAKeyClaimedAgain() {
    delaysRemovals = true;
    assertFails(
        ErrorCode.QUEUE_FULL,
        Executed.NO,
        nodeA.once(
            KEY,
            request("t"),
            () -> Future.failedFuture(new BridgeException(ErrorCode.QUEUE_FULL, "full"))));
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> again = nodeA.once(KEY, request("t"), running::future);

    delayedRemovals.forEach(Runnable::run);

    assertFails(ErrorCode.IDEMPOTENCY_IN_PROGRESS, Executed.UNKNOWN, once(nodeB, "t"));
    running.complete(DONE);
    assertEquals(DONE, again.result());
    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void storingAnOutcomeIsRetried() {
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> first = nodeA.once(KEY, request("t"), running::future);
    losesChange = true;

    running.complete(DONE);

    assertEquals(DONE, first.result());
    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void releasingAKeyIsRetried() {
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> first = nodeA.once(KEY, request("t"), running::future);
    losesChange = true;

    running.fail(new BridgeException(ErrorCode.QUEUE_FULL, "full"));

    assertFails(ErrorCode.QUEUE_FULL, Executed.NO, first);
    assertEquals(DONE, once(nodeB, "t").result());
    assertEquals(1, runs);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void unsettledKeyIsNeverEvicted(boolean hasFailedOnce) {
    Promise<CallOutcome> running = Promise.promise();
    nodeA.once(KEY, request("t"), running::future);
    losesChange = hasFailedOnce;
    holdsChanges = true;
    running.complete(DONE);
    holdsChanges = false;
    CallOutcome large =
        new CallOutcome.Completed(JsonSlice.of("{\"s\":\"" + "x".repeat(2 << 20) + "\"}"));
    for (int i = 0; i < 40; i++) {
      IdempotencyKeys.IdempotencyKey other =
          new IdempotencyKeys.IdempotencyKey("a", "POST /x", "other" + i);
      Promise<CallOutcome> next = Promise.promise();
      nodeA.once(other, request("t"), next::future);
      next.complete(large);
    }

    assertEquals(DONE, once(nodeA, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void largeResultOfALostNodeIsReportedAsExecuted() {
    JsonSlice large = JsonSlice.of("{\"s\":\"" + "x".repeat(2 << 20) + "\"}");
    Future<CallOutcome> first =
        nodeA.once(
            KEY, request("t"), () -> Future.succeededFuture(new CallOutcome.Completed(large)));

    assertTrue(first.succeeded());
    lostNodes.add(0);
    assertFails(ErrorCode.RESPONSE_TOO_LARGE, Executed.YES, once(nodeB, "t"));
  }

  private Future<CallOutcome> once(IdempotencyKeys keys, String tool) {
    return keys.once(
        KEY,
        request(tool),
        () -> {
          runs++;
          return Future.succeededFuture(DONE);
        });
  }

  private static CallRequest request(String tool) {
    return new CallRequest(
        "c", new ServerId("s"), Target.tool(tool), Arguments.NONE, Caller.named("a"), false);
  }

  private static void assertFails(ErrorCode code, Executed executed, Future<?> outcome) {
    BridgeException failure = assertInstanceOf(BridgeException.class, outcome.cause());
    assertEquals(code, failure.code());
    assertEquals(executed, failure.executed());
  }

  private Cluster node(int slot) {
    return (Cluster)
        Proxy.newProxyInstance(
            Cluster.class.getClassLoader(),
            new Class<?>[] {Cluster.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "isAlone" -> false;
                  case "slot" -> slot;
                  case "incarnation" -> 7L;
                  case "isAlive" -> !lostNodes.contains((Integer) arguments[0]);
                  case "map" -> unreliable(shared.map((String) arguments[0]));
                  default -> method.invoke(shared, arguments);
                });
  }

  /** A map that can lose changes or responses, or delay them. */
  private SharedMap unreliable(SharedMap map) {
    return (SharedMap)
        Proxy.newProxyInstance(
            SharedMap.class.getClassLoader(),
            new Class<?>[] {SharedMap.class},
            (proxy, method, arguments) -> {
              if (delaysRemovals && method.getName().equals("remove")) {
                delayedRemovals.add(() -> map.remove((String) arguments[0], (Long) arguments[1]));
                return delayedRemovals.size() > 1
                    ? Promise.promise().future()
                    : Future.failedFuture(new BridgeException(ErrorCode.NO_QUORUM, "late"));
              }
              if (losesChange && Set.of("put", "remove").contains(method.getName())) {
                losesChange = false;
                return Future.failedFuture(new BridgeException(ErrorCode.NO_QUORUM, "lost"));
              }
              if (holdsChanges) {
                return Promise.promise().future();
              }
              Object done = method.invoke(map, arguments);
              if (losesResponse && method.getName().equals("put")) {
                losesResponse = false;
                return Future.failedFuture(new BridgeException(ErrorCode.NO_QUORUM, "lost"));
              }
              return done;
            });
  }
}
