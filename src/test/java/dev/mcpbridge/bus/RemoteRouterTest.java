package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.OwnershipView;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls of a server that moves from node to node. */
class RemoteRouterTest {
  private static final ServerId ID = new ServerId("s");
  private static final JsonSlice DONE = JsonSlice.of("{}");

  private final Vertx vertx = Bridge.vertx();
  private final Bus bus = Bus.create(vertx, cluster(), new Counts());
  private Cluster.PeerListener peerListener;
  private Promise<Void> change = Promise.promise();
  private final Promise<byte[]> answer = Promise.promise();
  private int owner = Cluster.NOWHERE;
  private int runs;

  private Cluster cluster() {
    OwnershipView ownershipView =
        Stubs.of(
            OwnershipView.class,
            (question, arguments) ->
                question.equals("knows") ? true : List.of(InstanceId.first(ID)));
    return Stubs.of(
        Cluster.class,
        (question, arguments) ->
            switch (question) {
              case "isAlone", "isCutOff" -> false;
              case "name" -> "n";
              case "owner" -> owner;
              case "owners" -> ownershipView;
              case "change" -> change.future();
              case "ask" -> answer.future();
              case "tell" -> null;
              case "serve" -> {
                peerListener = (Cluster.PeerListener) arguments[0];
                yield null;
              }
              default -> throw new AssertionError(question);
            });
  }

  @BeforeEach
  void serve() throws Exception {
    EventLoops.await(
        vertx,
        () -> {
          bus.subscribe(Addresses.cancel(ID), c -> {});
          bus.serve(
              Addresses.call(ID).at(InstanceId.first(ID)),
              call -> {
                runs++;
                return Future.succeededFuture(DONE);
              });
          return Future.succeededFuture();
        });
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private Future<JsonSlice> ask() {
    return bus.request(Addresses.call(ID), call());
  }

  private static Call call() {
    return new Call(
            "c",
            ID,
            Target.tool("t"),
            JsonSlice.EMPTY_OBJECT,
            Caller.of("a"),
            0,
            false,
            Envelope.NONE)
        .withTimeout(60_000);
  }

  private void comesHere() {
    owner = Cluster.HERE;
    Promise<Void> over = change;
    change = Promise.promise();
    over.complete();
  }

  @Test
  void aCallWaitsForItsServer() throws Exception {
    JsonSlice answer =
        EventLoops.await(
            vertx,
            () -> {
              Future<JsonSlice> asked = ask();
              comesHere();
              return asked;
            });

    assertEquals(DONE, answer);
    assertEquals(1, runs);
  }

  @Test
  void aCallThatIsGivenUpWhileItWaitsForItsServerDoesNotRun() {
    assertDoesNotRunWhenGivenUp(this::ask, this::comesHere);
  }

  /**
   * @param goesOn what happens after the word of its end
   */
  private void assertDoesNotRunWhenGivenUp(Supplier<Future<JsonSlice>> asks, Runnable goesOn) {
    assertCancelled(
        assertThrows(
            BridgeException.class,
            () ->
                EventLoops.await(
                    vertx,
                    () -> {
                      Future<JsonSlice> asked = asks.get();
                      bus.publish(Addresses.cancel(ID), new Cancellation("c", "The client left"));
                      goesOn.run();
                      return asked;
                    })));
  }

  private void assertCancelled(BridgeException failure) {
    assertEquals(ErrorCode.CANCELLED, failure.code());
    assertEquals(Executed.NO, failure.executed());
    assertEquals(0, runs);
  }

  private Future<JsonSlice> askWhoHasItNoMore() {
    owner = 2;
    Future<JsonSlice> asked = ask();
    vertx.runOnContext(
        v -> {
          answer.fail(new BridgeException(ErrorCode.NOT_OWNER, "It has moved"));
          comesHere();
        });
    return asked;
  }

  @Test
  void aCallThatIsGivenUpWhileItIsAtWhoHasTheServerNoMoreDoesNotRun() {
    assertDoesNotRunWhenGivenUp(this::askWhoHasItNoMore, () -> {});
  }

  @Test
  void aCallThatIsStillWantedGoesOnToWhoHasTheServerNow() throws Exception {
    assertEquals(DONE, EventLoops.await(vertx, this::askWhoHasItNoMore));
    assertEquals(1, runs);
  }

  /**
   * Whether the node in slot 2 has its call run, of which another node says that it is given up.
   */
  private boolean runsWhenGivenUpBy(int slot, boolean isEarly) throws Exception {
    owner = Cluster.HERE;
    List<Cancellation> heard = new ArrayList<>();
    Cancellation cancellation = new Cancellation("c", "The client left");
    byte[] failure =
        EventLoops.await(
            vertx,
            () -> {
              bus.subscribe(Addresses.cancel(ID), heard::add);
              Promise<byte[]> answered = Promise.promise();
              Runnable giveUp =
                  () ->
                      peerListener.told(
                          slot,
                          Addresses.cancel(ID).name(),
                          WireCodecs.CANCELLATION.bytes(cancellation));
              if (isEarly) {
                giveUp.run();
              }
              peerListener.asked(
                  2,
                  Addresses.call(ID).at(InstanceId.first(ID)).name(),
                  WireCodecs.CALL.bytes(call()),
                  (result, failed) -> answered.complete(failed));
              if (!isEarly) {
                giveUp.run();
              }
              return answered.future();
            });
    return failure == null && heard.isEmpty();
  }

  @Test
  void aCallIsNotGivenUpByAnotherNodeThanItsOwn() throws Exception {
    assertTrue(runsWhenGivenUpBy(1, true));
    assertTrue(runsWhenGivenUpBy(1, false));
    assertFalse(runsWhenGivenUpBy(2, false));
    assertFalse(runsWhenGivenUpBy(2, true));
  }

  @Test
  void onlyTheNodeWhereAPartRunsTellsOfIt() throws Exception {
    List<Long> heard = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          Promise<Void> told = Promise.promise();
          bus.subscribe(
              Addresses.PART_GONE,
              gone -> {
                heard.add(gone.from().epoch());
                told.complete();
              });
          peerListener.connected(1, "one");
          peerListener.connected(2, "two");
          tellOfPart(2, 8);
          tellOfPart(1, 7);
          return told.future();
        });

    assertEquals(List.of(7L), heard);
  }

  private void tellOfPart(int slot, long epoch) {
    Topic<InstanceStopped> topic = Addresses.PART_GONE;
    peerListener.told(
        slot,
        topic.name(),
        topic.wireCodec().bytes(new InstanceStopped(ID, new InstanceLocation(1, "one", epoch))));
  }

  @Test
  void onlyTheNodeThatRunsACallTellsItsClientOfIt() throws Exception {
    owner = 2;
    List<String> heard = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          bus.subscribe(Addresses.callEvents("c"), event -> heard.add(event.name()));
          Future<JsonSlice> asked = ask();
          tellOfCall(1, "forged");
          tellOfCall(2, "progress");
          vertx.runOnContext(v -> answer.fail(new BridgeException(ErrorCode.CANCELLED, "over")));
          return asked.otherwiseEmpty();
        });

    assertEquals(List.of("progress"), heard);
  }

  private void tellOfCall(int slot, String event) {
    Topic<CallEvent> topic = Addresses.callEvents("c");
    peerListener.told(
        slot, topic.name(), topic.wireCodec().bytes(new CallEvent(event, JsonSlice.EMPTY_OBJECT)));
  }

  @Test
  void onlyTheNodeThatRunsACallAsksItsClient() throws Exception {
    owner = 2;
    List<Integer> answered = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          bus.serve(Addresses.question("c"), serverRequest -> Future.succeededFuture(DONE));
          ask();
          Promise<Void> second = Promise.promise();
          askClient(1, (result, failure) -> answered.add(failure == null ? 1 : -1));
          askClient(
              2,
              (result, failure) -> {
                answered.add(failure == null ? 2 : -2);
                second.complete();
              });
          return second.future();
        });

    assertEquals(List.of(-1, 2), answered);
  }

  private void askClient(int slot, BiConsumer<byte[], byte[]> answered) {
    Address<ServerRequest, JsonSlice> address = Addresses.question("c");
    peerListener.asked(
        slot,
        address.name(),
        address.question().bytes(new ServerRequest("roots/list", JsonSlice.EMPTY_OBJECT)),
        answered);
  }

  @Test
  void aCallOfAnotherNodeThatIsGivenUpBeforeItHasComeDoesNotRun() throws Exception {
    owner = Cluster.HERE;
    Cancellation cancellation = new Cancellation("c", "The client left");
    byte[] failure =
        EventLoops.await(
            vertx,
            () -> {
              Promise<byte[]> answered = Promise.promise();
              peerListener.told(
                  2, Addresses.cancel(ID).name(), WireCodecs.CANCELLATION.bytes(cancellation));
              peerListener.asked(
                  2,
                  Addresses.call(ID).at(InstanceId.first(ID)).name(),
                  WireCodecs.CALL.bytes(call()),
                  (result, failed) -> answered.complete(failed));
              return answered.future();
            });

    assertCancelled(FailureCodec.FORM.of(failure));
  }
}
