package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.metrics.Counts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Questions within a node, and those who answer them or stop to. */
class BusTest {
  private static final Address<String, String> SOMEWHERE = Address.here("somewhere");

  private final Vertx vertx = Bridge.vertx();
  private final Bus bus = Bus.create(vertx, new SingleNode(Clock.systemUTC()), new Counts());

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  /** All of it in one turn of the event loop. */
  private String inOneTurn(Supplier<Future<String>> what) throws Exception {
    Promise<String> answered = Promise.promise();
    vertx.runOnContext(v -> what.get().onComplete(answered));
    return answered.future().await(20, TimeUnit.SECONDS);
  }

  private void assertNotDelivered(Supplier<Future<String>> what) {
    BridgeException failure = assertThrows(BridgeException.class, () -> inOneTurn(what));
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure.code());
    assertEquals(Executed.NO, failure.executed());
  }

  @Test
  void aQuestionIsAnswered() throws Exception {
    bus.serve(SOMEWHERE, question -> Future.succeededFuture(question + "!"));

    assertEquals("who!", inOneTurn(() -> bus.request(SOMEWHERE, "who")));
  }

  @Test
  void aQuestionThatNobodyAnswersFails() {
    assertNotDelivered(() -> bus.request(SOMEWHERE, "who"));
  }

  @Test
  void aQuestionFailsThatIsOnItsWayWhenItsReceiverStopsToListen() {
    Runnable deaf = bus.serve(SOMEWHERE, question -> Future.succeededFuture("too late"));

    assertNotDelivered(
        () -> {
          Future<String> asked = bus.request(SOMEWHERE, "who");
          deaf.run();
          return asked;
        });
    assertNotDelivered(() -> bus.request(SOMEWHERE, "who"));
  }

  @Test
  void aQuestionThatWasDeliveredIsAnsweredThoughItsReceiverStopsToListen() throws Exception {
    Promise<String> answer = Promise.promise();
    Promise<String> asked = Promise.promise();
    Runnable deaf =
        bus.serve(
            SOMEWHERE,
            question -> {
              asked.complete(question);
              return answer.future();
            });
    Future<String> answered = bus.request(SOMEWHERE, "who");
    asked.future().await(20, TimeUnit.SECONDS);

    deaf.run();
    inOneTurn(() -> Future.succeededFuture("a turn that comes after"));
    answer.complete("me");

    assertEquals("me", answered.await(20, TimeUnit.SECONDS));
  }

  @Test
  void whoComesAfterwardsAnswers() throws Exception {
    Runnable deaf = bus.serve(SOMEWHERE, question -> Future.succeededFuture("the first"));

    assertEquals(
        "the second",
        inOneTurn(
            () -> {
              deaf.run();
              bus.serve(SOMEWHERE, question -> Future.succeededFuture("the second"));
              return bus.request(SOMEWHERE, "who");
            }));
  }
}
