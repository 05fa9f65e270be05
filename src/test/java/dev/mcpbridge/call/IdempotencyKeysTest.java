package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Clock;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class IdempotencyKeysTest {
  private static final IdempotencyKeys.IdempotencyKey KEY =
      new IdempotencyKeys.IdempotencyKey("a", "POST /x", "k");
  private static final CallOutcome DONE = new CallOutcome.Completed(JsonSlice.EMPTY_OBJECT);

  private final IdempotencyKeys keys = new IdempotencyKeys(Clock.systemUTC(), () -> true);
  private int runs;

  private Future<CallOutcome> once(
      IdempotencyKeys.IdempotencyKey idempotencyKey,
      String body,
      Supplier<Future<CallOutcome>> call) {
    return keys.once(idempotencyKey, idempotencyKey.caller(), body, call);
  }

  @Test
  void repetitionsReturnTheFirstOutcome() {
    assertSame(DONE, once(KEY, "body", this::succeed).result());
    assertSame(DONE, once(KEY, "body", this::succeed).result());
    assertEquals(1, runs);
  }

  @Test
  void repetitionIsRefusedWhileTheCallRuns() {
    Promise<CallOutcome> running = Promise.promise();
    once(KEY, "body", running::future);

    assertFails(ErrorCode.IDEMPOTENCY_IN_PROGRESS, once(KEY, "body", this::succeed));
    assertEquals(0, runs);
  }

  @Test
  void repetitionWithDifferentBodyIsRefused() {
    once(KEY, "body", this::succeed);

    assertFails(ErrorCode.IDEMPOTENCY_MISMATCH, once(KEY, "other", this::succeed));
  }

  @Test
  void keysOfCallersAreIndependent() {
    once(KEY, "body", this::succeed);
    once(new IdempotencyKeys.IdempotencyKey("b", "POST /x", "k"), "other", this::succeed);

    assertEquals(2, runs);
  }

  @Test
  void onlyFailureWithoutEffectReleasesTheKey() {
    once(KEY, "body", () -> fail(Executed.NO));
    assertSame(DONE, once(KEY, "body", this::succeed).result());

    IdempotencyKeys.IdempotencyKey other =
        new IdempotencyKeys.IdempotencyKey("a", "POST /x", "other");
    once(other, "body", () -> fail(Executed.UNKNOWN));
    assertFails(ErrorCode.UPSTREAM_CRASHED, once(other, "body", this::succeed));
    assertEquals(1, runs);
  }

  @Test
  void keysOfOneCallerNeverEvictThoseOfAnother() {
    once(KEY, "body", this::succeed);
    Future<CallOutcome> last = null;
    for (int i = 0; i < 60_000; i++) {
      last =
          once(new IdempotencyKeys.IdempotencyKey("greedy", "POST /x", "" + i), "b", this::succeed);
    }
    int before = runs;

    assertFails(ErrorCode.RATE_LIMITED, last);
    assertSame(DONE, once(KEY, "body", this::succeed).result());
    assertEquals(before, runs);
    assertSame(
        DONE,
        once(new IdempotencyKeys.IdempotencyKey("b", "POST /x", "k"), "b", this::succeed).result());
  }

  @Test
  void callWithDroppedOutcomeIsNotRunAgain() {
    CallOutcome large = new CallOutcome.Completed(JsonSlice.of(new byte[33 << 20]));
    once(KEY, "body", () -> Future.succeededFuture(large));
    IdempotencyKeys.IdempotencyKey other = new IdempotencyKeys.IdempotencyKey("b", "POST /x", "k");
    once(other, "body", () -> Future.succeededFuture(large));

    assertFails(ErrorCode.OUTCOME_NOT_KEPT, once(KEY, "body", this::succeed));
    assertSame(large, once(other, "body", this::succeed).result());
    assertEquals(0, runs);
  }

  private Future<CallOutcome> succeed() {
    runs++;
    return Future.succeededFuture(DONE);
  }

  private static Future<CallOutcome> fail(Executed executed) {
    return Future.failedFuture(
        new BridgeException(ErrorCode.UPSTREAM_CRASHED, "gone").withExecuted(executed));
  }

  private static void assertFails(ErrorCode code, Future<CallOutcome> outcome) {
    assertEquals(code, ((BridgeException) outcome.cause()).code());
  }
}
