package dev.mcpbridge.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Timeouts;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls that are answered from the cache, share one call of the server, or reach it. */
@ExtendWith(VertxExtension.class)
class CachedCallsTest {
  private static final JsonSlice ANSWER = JsonSlice.of("{\"content\":[]}");

  /** The calls of the server, which end when a test says so. */
  private final List<Call> sent = new ArrayList<>();

  private final List<Promise<JsonSlice>> answers = new ArrayList<>();
  private Context context;
  private CachedCalls calls;

  @BeforeEach
  void create(Vertx vertx) {
    context = vertx.getOrCreateContext();
    calls =
        new CachedCalls(
            context, ResultCacheTest.CONFIG, new Timeouts(60_000, List.of()), 1_000, this::send);
  }

  private Future<JsonSlice> send(Call call) {
    Promise<JsonSlice> answer = Promise.promise();
    sent.add(call);
    answers.add(answer);
    call.cancellation().onCancel(answer::tryFail);
    return answer.future();
  }

  /** Runs on the context of the calls. */
  private <T> T on(Callable<T> action) throws Exception {
    return EventLoops.run(context, action);
  }

  private static Call call(String id) {
    return ResultCacheTest.call(id, "alice", null, Target.tool("all_x"), "{}");
  }

  private Future<JsonSlice> run(Call call) throws Exception {
    return on(() -> calls.run(call));
  }

  private void answer(int index) throws Exception {
    on(() -> answers.get(index).tryComplete(ANSWER));
  }

  private static CacheNote.Status status(Future<JsonSlice> result) throws Exception {
    return CacheNote.of(result.await(10, TimeUnit.SECONDS)).status();
  }

  private static BridgeException failure(Future<JsonSlice> result) {
    try {
      throw new AssertionError(result.await(10, TimeUnit.SECONDS));
    } catch (BridgeException e) {
      return e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void thousandEqualCallsAtOnceAreOneCallOfTheServer() throws Exception {
    List<Future<JsonSlice>> all = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      all.add(run(call("c" + i)));
    }
    answer(0);

    assertEquals(1, sent.size());
    assertEquals(CacheNote.Status.MISS, status(all.get(0)));
    for (Future<JsonSlice> joined : all.subList(1, all.size())) {
      assertEquals(CacheNote.Status.COLLAPSED, status(joined));
    }
    assertEquals("c0", CacheNote.of(all.get(5).result()).sharedCall());
    assertEquals(CacheNote.Status.HIT, status(run(call("later"))));
    assertEquals(1, sent.size());
  }

  @Test
  void callIsNotJoinedByOneThatIsMoreUrgent() throws Exception {
    Future<JsonSlice> slow = run(withUrgency("slow", 7));
    Future<JsonSlice> urgent = run(withUrgency("urgent", 0));
    Future<JsonSlice> slower = run(withUrgency("slower", 7));

    assertEquals(2, sent.size());
    answer(1);
    assertEquals(ANSWER, urgent.await(10, TimeUnit.SECONDS));
    answer(0);
    assertEquals(CacheNote.Status.MISS, status(slow));
    assertEquals(CacheNote.Status.COLLAPSED, status(slower));
  }

  private static Call withUrgency(String id, int urgency) {
    Call call = call(id);
    return call.withEnvelope(call.envelope().withUrgency(urgency));
  }

  @Test
  void callersBeyondTheBoundWaitInTheQueueOfTheServer() throws Exception {
    for (int i = 0; i < 1_003; i++) {
      run(call("c" + i));
    }

    assertEquals(List.of("c0", "c1000", "c1001", "c1002"), sent.stream().map(Call::id).toList());
  }

  @Test
  void callThatIsCancelledLeavesTheOthersWaiting() throws Exception {
    Call first = call("c1");
    Future<JsonSlice> left = run(first);
    Future<JsonSlice> stays = run(call("c2"));

    first.cancellation().cancel("gone");
    assertEquals(ErrorCode.CANCELLED, failure(left).code());
    answer(0);

    assertEquals(CacheNote.Status.COLLAPSED, status(stays));
  }

  @Test
  void lastWhoLeavesCancelsTheCallAndTheNextBeginsAnew() throws Exception {
    List<Call> both = List.of(call("c1"), call("c2"));
    List<Future<JsonSlice>> results = new ArrayList<>();
    for (Call each : both) {
      results.add(run(each));
    }
    both.forEach(each -> each.cancellation().cancel("gone"));
    results.forEach(CachedCallsTest::failure);

    assertTrue(sent.get(0).cancellation().isCancelled());
    run(call("c3"));
    assertEquals(2, sent.size());
  }

  @Test
  void eachCallerWaitsUntilItsOwnDeadline() throws Exception {
    Future<JsonSlice> short1 = run(call("c1").withTimeout(50));
    Future<JsonSlice> long1 = run(call("c2"));

    assertEquals(ErrorCode.DEADLINE_EXCEEDED, failure(short1).code());
    answer(0);

    assertEquals(CacheNote.Status.COLLAPSED, status(long1));
    assertTrue(sent.get(0).deadlineNanos() - System.nanoTime() > 30_000_000_000L);
  }

  @Test
  void callThatWasNotExecutedFailsForOneAndIsTriedOnceForTheOthers() throws Exception {
    Future<JsonSlice> first = run(call("c1"));
    Future<JsonSlice> second = run(call("c2"));
    Future<JsonSlice> third = run(call("c3"));
    BridgeException crashed = new BridgeException(ErrorCode.UPSTREAM_CRASHED, "it was not there");

    on(() -> answers.get(0).tryFail(crashed));
    assertEquals(crashed, failure(first));
    assertEquals(2, sent.size());
    on(() -> answers.get(1).tryFail(crashed));

    assertEquals(crashed, failure(second));
    assertEquals(crashed, failure(third));
    assertEquals(2, sent.size());
  }

  @Test
  void failureOfACallThatMayHaveBeenExecutedIsThatOfAll() throws Exception {
    Future<JsonSlice> first = run(call("c1"));
    Future<JsonSlice> second = run(call("c2"));
    BridgeException crashed =
        new BridgeException(ErrorCode.UPSTREAM_CRASHED, "crashed").withExecuted(Executed.UNKNOWN);

    on(() -> answers.get(0).tryFail(crashed));

    assertEquals(crashed, failure(first));
    assertEquals(crashed, failure(second));
    assertEquals(1, sent.size());
  }

  @Test
  void anyOtherToolClearsWhatIsKeptAndWhatIsOnItsWay() throws Exception {
    Future<JsonSlice> before = run(call("c1"));
    Call write = ResultCacheTest.call("w", "bob", null, Target.tool("write"), "{}");

    run(write);
    Future<JsonSlice> after = run(call("c2"));
    answer(0);

    assertNull(CacheNote.of(before.await(10, TimeUnit.SECONDS)));
    assertEquals(3, sent.size());
    answer(2);
    assertEquals(CacheNote.Status.MISS, status(after));
    answer(1);
    run(call("c3"));
    assertEquals(4, sent.size());
  }

  @Test
  void privateResultIsForTheFirstCallerAndTheOthersMakeTheirOwnCalls() throws Exception {
    JsonSlice secret = JsonSlice.of("{\"content\":[],\"cacheScope\":\"private\"}");
    Future<JsonSlice> first = run(call("c1"));
    Future<JsonSlice> second =
        run(ResultCacheTest.call("c2", "bob", null, Target.tool("all_x"), "{}"));

    on(() -> answers.get(0).tryComplete(secret));
    assertEquals(2, sent.size());
    answer(1);

    assertEquals(secret, first.await(10, TimeUnit.SECONDS));
    assertEquals(ANSWER, second.await(10, TimeUnit.SECONDS));
    run(call("c3"));
    assertEquals(3, sent.size());
  }

  @Test
  void readingAfterAnUpdateDoesNotJoinOneFromBefore() throws Exception {
    Target uri = new Target(Target.Kind.RESOURCE, "x://1");
    JsonSlice old = JsonSlice.of("{\"contents\":[1],\"ttlMs\":3000}");
    JsonSlice current = JsonSlice.of("{\"contents\":[2],\"ttlMs\":3000}");
    run(ResultCacheTest.call("r1", "alice", null, uri, "{}"));

    on(
        () -> {
          calls.clear("x://1");
          return null;
        });
    Future<JsonSlice> after = run(ResultCacheTest.call("r2", "alice", null, uri, "{}"));
    on(() -> answers.get(1).tryComplete(current));
    on(() -> answers.get(0).tryComplete(old));

    assertTrue(after.await(10, TimeUnit.SECONDS).text().contains("[2]"));
    Future<JsonSlice> kept = run(ResultCacheTest.call("r3", "alice", null, uri, "{}"));
    assertTrue(kept.await(10, TimeUnit.SECONDS).text().contains("[2]"));
    assertEquals(2, sent.size());
  }

  @Test
  void callerMayAskForANewResultOrForOneThatIsNotKept() throws Exception {
    run(call("c1"));
    answer(0);

    Future<JsonSlice> fresh =
        run(call("c2").withMeta(MetaKeys.CACHE, JsonSlice.of("\"no-cache\"")));
    answer(1);
    Future<JsonSlice> apart =
        run(call("c3").withMeta(MetaKeys.CACHE, JsonSlice.of("\"no-store\"")));
    answer(2);

    assertEquals(CacheNote.Status.MISS, status(fresh));
    assertNull(CacheNote.of(apart.await(10, TimeUnit.SECONDS)));
    assertEquals(CacheNote.Status.HIT, status(run(call("c4"))));
    assertEquals("{}", sent.get(1).envelope().meta().text());
  }

  @Test
  void resultThatIsForItsCallerOnlyIsNotShared() throws Exception {
    Future<JsonSlice> first = run(call("c1"));
    Future<JsonSlice> second = run(call("c2"));
    JsonSlice asks =
        JsonSlice.of("{\"content\":[],\"_meta\":{\"dev.mcpbridge/confirmation\":\"of c1\"}}");

    on(() -> answers.get(0).tryComplete(asks));
    assertEquals(asks, first.await(10, TimeUnit.SECONDS));
    assertEquals(2, sent.size());
    assertEquals("c2", sent.get(1).id());
    answer(1);

    assertEquals(ANSWER, second.await(10, TimeUnit.SECONDS));
  }

  @Test
  void progressIsForAllWhoWantIt() throws Exception {
    run(call("c1"));
    run(call("c2").withStreaming(true));
    run(call("c3").withStreaming(true));

    List<String> listeners = on(() -> calls.listeners(sent.get(0)).stream().map(Call::id).toList());

    assertEquals(List.of("c2", "c3"), listeners);
    assertTrue(sent.get(0).streaming());
  }

  @Test
  void sharedCallCannotAskItsFirstCaller() throws Exception {
    run(call("c1"));

    assertEquals("{}", sent.get(0).envelope().capabilities().text());
  }
}
