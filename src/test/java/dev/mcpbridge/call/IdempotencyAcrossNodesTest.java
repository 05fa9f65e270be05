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

/** Two nodes over one map: what one of them was asked to do once, the other does not do again. */
class IdempotencyAcrossNodesTest {
  private static final IdempotencyKeys.IdempotencyKey KEY =
      new IdempotencyKeys.IdempotencyKey("a", "POST /x", "k");
  private static final CallOutcome DONE = new CallOutcome.Completed(JsonSlice.of("{\"n\":1.10}"));

  private final SingleNode shared = new SingleNode(Clock.systemUTC());
  private final Set<Integer> gone = new HashSet<>();
  private boolean losesAnAnswer;
  private boolean losesAChange;
  private boolean keepsChangesWaiting;
  private final List<Runnable> delayedRemovals = new ArrayList<>();
  private boolean delaysRemovals;
  private final IdempotencyKeys here = new IdempotencyKeys(Clock.systemUTC(), node(0), () -> false);
  private final IdempotencyKeys there =
      new IdempotencyKeys(Clock.systemUTC(), node(1), () -> false);
  private int runs;

  @Test
  void whatRanHereIsAnsweredThere() {
    assertEquals(DONE, once(here, "t").result());
    assertEquals(DONE, once(there, "t").result());
    assertEquals(1, runs);
  }

  @Test
  void oneCallerTakesHalfOfTheKeysOfAllNodesAtMost() {
    IdempotencyKeys node = new IdempotencyKeys(Clock.systemUTC(), node(0), () -> true);
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
        Caller.of(caller),
        false);
  }

  @Test
  void whatRunsHereIsInProgressThere() {
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> first = here.once(KEY, request("t"), running::future);

    assertFails(ErrorCode.IDEMPOTENCY_IN_PROGRESS, Executed.UNKNOWN, once(there, "t"));

    running.complete(DONE);
    assertEquals(DONE, first.result());
    assertEquals(DONE, once(there, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void whatRanOnANodeThatIsGoneHasAnUnknownEndAndIsNotRunAgain() {
    here.once(KEY, request("t"), () -> Promise.<CallOutcome>promise().future());
    gone.add(0);

    assertFails(ErrorCode.NODE_LOST, Executed.UNKNOWN, once(there, "t"));
    assertEquals(0, runs);
  }

  @Test
  void anotherRequestWithTheSameKeyIsRefusedThere() {
    once(here, "t");

    assertFails(ErrorCode.IDEMPOTENCY_MISMATCH, Executed.NO, once(there, "other"));
  }

  @Test
  void whatHadNoEffectFreesTheKeyForAllNodes() {
    here.once(
        KEY,
        request("t"),
        () -> Future.failedFuture(new BridgeException(ErrorCode.QUEUE_FULL, "full")));

    assertEquals(DONE, once(there, "t").result());
    assertEquals(1, runs);
  }

  @Test
  void aKeyThatWasTakenThoughTheAnswerWasLostIsNotInProgressForEver() {
    losesAnAnswer = true;
    assertFails(ErrorCode.NO_QUORUM, Executed.NO, once(here, "t"));
    assertEquals(0, runs);

    assertEquals(DONE, once(here, "t").result());
    assertEquals(DONE, once(there, "t").result());
    assertEquals(1, runs);
  }

  @Test
  void aKeyThatIsTakenAgainIsNotFreedByWhatWasSaidBefore() {
    delaysRemovals = true;
    assertFails(
        ErrorCode.QUEUE_FULL,
        Executed.NO,
        here.once(
            KEY,
            request("t"),
            () -> Future.failedFuture(new BridgeException(ErrorCode.QUEUE_FULL, "full"))));
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> again = here.once(KEY, request("t"), running::future);

    delayedRemovals.forEach(Runnable::run);

    assertFails(ErrorCode.IDEMPOTENCY_IN_PROGRESS, Executed.UNKNOWN, once(there, "t"));
    running.complete(DONE);
    assertEquals(DONE, again.result());
    assertEquals(DONE, once(there, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void theEndOfACallIsSaidUntilTheOthersKnowIt() {
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> first = here.once(KEY, request("t"), running::future);
    losesAChange = true;

    running.complete(DONE);

    assertEquals(DONE, first.result());
    assertEquals(DONE, once(there, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void thatNothingHasHappenedIsSaidUntilTheOthersKnowIt() {
    Promise<CallOutcome> running = Promise.promise();
    Future<CallOutcome> first = here.once(KEY, request("t"), running::future);
    losesAChange = true;

    running.fail(new BridgeException(ErrorCode.QUEUE_FULL, "full"));

    assertFails(ErrorCode.QUEUE_FULL, Executed.NO, first);
    assertEquals(DONE, once(there, "t").result());
    assertEquals(1, runs);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aKeyOfWhichTheOthersHaveYetToHearIsNotForgottenHoweverMuchIsKept(boolean hasFailedOnce) {
    Promise<CallOutcome> running = Promise.promise();
    here.once(KEY, request("t"), running::future);
    losesAChange = hasFailedOnce;
    keepsChangesWaiting = true;
    running.complete(DONE);
    keepsChangesWaiting = false;
    CallOutcome large =
        new CallOutcome.Completed(JsonSlice.of("{\"s\":\"" + "x".repeat(2 << 20) + "\"}"));
    for (int i = 0; i < 40; i++) {
      IdempotencyKeys.IdempotencyKey other =
          new IdempotencyKeys.IdempotencyKey("a", "POST /x", "other" + i);
      Promise<CallOutcome> next = Promise.promise();
      here.once(other, request("t"), next::future);
      next.complete(large);
    }

    assertEquals(DONE, once(here, "t").result());
    assertEquals(0, runs);
  }

  @Test
  void aResultThatIsTooLargeToBeKeptIsSaidToHaveBeenDone() {
    JsonSlice large = JsonSlice.of("{\"s\":\"" + "x".repeat(2 << 20) + "\"}");
    Future<CallOutcome> first =
        here.once(
            KEY, request("t"), () -> Future.succeededFuture(new CallOutcome.Completed(large)));

    assertTrue(first.succeeded());
    assertFails(ErrorCode.RESPONSE_TOO_LARGE, Executed.YES, once(there, "t"));
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
        "c", new ServerId("s"), Target.tool(tool), Arguments.NONE, Caller.of("a"), false);
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
                  case "life" -> 7L;
                  case "lives" -> !gone.contains((Integer) arguments[0]);
                  case "map" -> forgetful(shared.map((String) arguments[0]));
                  default -> method.invoke(shared, arguments);
                });
  }

  /** One that does what it is told, and may fail to, to say so, or do it later. */
  private SharedMap forgetful(SharedMap map) {
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
              if (losesAChange && Set.of("put", "remove").contains(method.getName())) {
                losesAChange = false;
                return Future.failedFuture(new BridgeException(ErrorCode.NO_QUORUM, "lost"));
              }
              if (keepsChangesWaiting) {
                return Promise.promise().future();
              }
              Object done = method.invoke(map, arguments);
              if (losesAnAnswer && method.getName().equals("put")) {
                losesAnAnswer = false;
                return Future.failedFuture(new BridgeException(ErrorCode.NO_QUORUM, "lost"));
              }
              return done;
            });
  }
}
