package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchTest {
  private final List<Promise<CallOutcome>> started = new ArrayList<>();

  private List<Future<CallOutcome>> add(Batch batch, int calls) {
    return IntStream.range(0, calls).mapToObj(i -> batch.add(this::start)).toList();
  }

  private Future<CallOutcome> start() {
    Promise<CallOutcome> call = Promise.promise();
    started.add(call);
    return call.future();
  }

  private static CallOutcome result(String json) {
    return new CallOutcome.Completed(JsonSlice.of(json));
  }

  private static BridgeException failure(Future<CallOutcome> outcome) {
    return (BridgeException) outcome.cause();
  }

  @Test
  void noMoreThanTheConcurrencyRunAtTheSameTime() {
    List<Future<CallOutcome>> outcomes = add(new Batch(new Batch.Terms(3, false)), 10);
    assertEquals(3, started.size());

    started.get(1).complete(result("{}"));
    assertEquals(4, started.size());
    started.get(0).fail(new BridgeException(ErrorCode.UPSTREAM_ERROR, "no"));
    assertEquals(5, started.size());
    for (int i = 2; i < 10; i++) {
      started.get(i).complete(result("{\"n\":" + i + "}"));
    }

    assertTrue(outcomes.get(0).failed());
    assertEquals(result("{\"n\":9}"), outcomes.get(9).result());
    assertTrue(outcomes.stream().allMatch(Future::isComplete));
  }

  @ParameterizedTest
  @ValueSource(strings = {"failure", "error", "held"})
  void callsAfterOneWithoutSuccessAreSkippedIfAskedFor(String end) {
    List<Future<CallOutcome>> outcomes = add(new Batch(new Batch.Terms(2, true)), 5);

    switch (end) {
      case "failure" ->
          started.get(0).fail(new BridgeException(ErrorCode.UPSTREAM_ERROR, "it broke"));
      case "error" -> started.get(0).complete(result("{\"content\":[],\"isError\":true}"));
      default -> started.get(0).complete(new CallOutcome.NeedsConfirmation(null));
    }

    assertEquals(2, started.size());
    assertFalse(outcomes.get(1).isComplete(), "a running call goes on");
    for (Future<CallOutcome> skipped : outcomes.subList(2, 5)) {
      assertEquals(ErrorCode.SKIPPED, failure(skipped).code());
      assertEquals(Executed.NO, failure(skipped).executed());
    }
    started.get(1).complete(result("{}"));
    assertTrue(outcomes.get(1).succeeded());
  }

  @Test
  void cancelledBatchStartsNothingMore() {
    Batch batch = new Batch(new Batch.Terms(1, false));
    List<Future<CallOutcome>> outcomes = add(batch, 3);

    batch.cancel();
    started.get(0).complete(result("{}"));

    assertEquals(1, started.size());
    assertEquals(ErrorCode.CANCELLED, failure(outcomes.get(2)).code());
    assertEquals(Executed.NO, failure(outcomes.get(2)).executed());
    assertTrue(outcomes.get(0).succeeded());
  }

  @Test
  void aCallThatCannotStartFailsAlone() {
    Batch batch = new Batch(new Batch.Terms(1, false));

    Future<CallOutcome> invalid =
        batch.add(
            () -> {
              throw new BridgeException(ErrorCode.INVALID_ARGUMENTS, "no tool");
            });
    Future<CallOutcome> next = batch.add(() -> Future.succeededFuture(result("{}")));

    assertEquals(ErrorCode.INVALID_ARGUMENTS, failure(invalid).code());
    assertTrue(next.succeeded());
  }

  @ParameterizedTest
  @CsvSource({"0,", "129,", "-1,", "1.0,", "x,", ",never", "9999999999,", "'',"})
  void invalidTermsAreRefused(String concurrency, String onError) {
    BridgeException refused =
        assertThrows(BridgeException.class, () -> Batch.Terms.of(concurrency, onError));

    assertEquals(ErrorCode.INVALID_ARGUMENTS, refused.code());
    assertTrue(
        refused.getMessage().contains(concurrency == null ? "onError" : "concurrency"),
        refused.getMessage());
  }
}
