package dev.mcpbridge.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The turns at a server with 16 slots, in which calls of several callers run. */
class CallQueueTest {
  private static final int SLOTS = 16;

  private final Vertx vertx = Vertx.vertx();
  private final AtomicBoolean hasUrgentCallers = new AtomicBoolean(true);
  private final CallQueue queue =
      new CallQueue(
          vertx,
          new ServerId("s"),
          1_000,
          SLOTS,
          new CallQueue.Sharing(() -> true, hasUrgentCallers::get));

  private final List<Call> running = new ArrayList<>();
  private final Map<Call, Promise<JsonSlice>> results = new HashMap<>();
  private int calls;

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private Call call(String caller, int urgency) {
    return new Call(
        "c" + ++calls,
        new ServerId("s"),
        Target.tool("t"),
        JsonSlice.EMPTY_OBJECT,
        Caller.of(new Principal(caller, Set.of(), Set.of(), null)),
        System.nanoTime() + 60_000_000_000L,
        false,
        Envelope.NONE.withUrgency(urgency),
        new CancellationToken());
  }

  /** As a dispatcher does it. */
  private void submit(Call call) {
    if (running.size() < SLOTS && queue.mayRunNow(call)) {
      run(call, 0);
    } else {
      queue.add(call);
      dispatch();
    }
  }

  private Future<JsonSlice> run(Call call, long queuedNanos) {
    Promise<JsonSlice> result = Promise.promise();
    running.add(call);
    results.put(call, result);
    queue.count(call, result.future());
    return result.future();
  }

  private void dispatch() {
    while (running.size() < SLOTS && queue.size() > 0) {
      if (queue.next(this::run) == CallQueue.TurnResult.NONE_ELIGIBLE) {
        return;
      }
    }
  }

  private void endFirst() {
    Call first = running.remove(0);
    results.remove(first).complete(JsonSlice.EMPTY_OBJECT);
    dispatch();
  }

  private long running(String caller) {
    return running.stream().filter(call -> call.caller().name().equals(caller)).count();
  }

  @Test
  void slotsAreKeptForUrgentCallsWhereSomeAreAllowed() {
    for (int i = 0; i < 40; i++) {
      submit(call("caller" + i % 4, 3));
    }
    assertEquals(SLOTS - 2, running.size());

    submit(call("on-call", 0));
    assertEquals(1, running("on-call"));

    hasUrgentCallers.set(false);
    endFirst();
    assertEquals(SLOTS, running.size());
  }

  @Test
  void urgentCallersThatAlwaysWaitDoNotStarveTheOthers() {
    for (int i = 0; i < 100; i++) {
      submit(call("one", 0));
      submit(call("two", 1));
    }
    submit(call("usual", 3));

    for (int i = 0; i < 60 && running("usual") == 0; i++) {
      endFirst();
    }

    assertEquals(1, running("usual"));
  }

  @Test
  void noCallerHasMoreThanHalfOfTheSlotsButForUrgentCalls() {
    for (int i = 0; i < 40; i++) {
      submit(call("greedy", 7));
    }
    assertEquals(SLOTS / 2, running.size());
    for (int i = 0; i < 40; i++) {
      submit(call("greedy", 0));
    }
    assertEquals(SLOTS / 2 + 2, running.size());

    Call modest = call("modest", 3);
    assertTrue(queue.mayRunNow(modest));
  }

  @Test
  void endedCallsGiveTheirSlotsBack() {
    for (int i = 0; i < 200; i++) {
      submit(call("caller" + i % 5, i % 8));
    }
    while (!running.isEmpty()) {
      endFirst();
    }

    assertEquals(0, queue.size());
    for (int i = 0; i < SLOTS - 2; i++) {
      submit(call("caller" + i % 2, 3));
    }
    assertEquals(SLOTS - 2, running.size());
    assertFalse(queue.mayRunNow(call("other", 3)));
  }
}
