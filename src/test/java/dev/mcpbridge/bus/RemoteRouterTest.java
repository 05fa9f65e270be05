package dev.mcpbridge.bus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.OwnershipView;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Urgency;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls of a server whose owner changes. */
@ExtendWith(VertxExtension.class)
class RemoteRouterTest {
  private static final ServerId ID = new ServerId("s");
  private static final JsonSlice DONE = JsonSlice.of("{}");

  private Vertx vertx;
  private Bus bus;
  private Cluster.PeerListener peerListener;
  private Promise<Void> change = Promise.promise();
  private final Promise<byte[]> answer = Promise.promise();
  private final Call call = call();
  private int owner = Cluster.NO_OWNER;
  private int runs;
  private int cancellations;

  private Cluster cluster() {
    OwnershipView ownershipView =
        Stubs.of(
            OwnershipView.class,
            (method, arguments) -> method.equals("knows") ? true : List.of(InstanceId.first(ID)));
    return Stubs.member(
        ownershipView,
        (method, arguments) ->
            switch (method) {
              case "owner" -> owner;
              case "change" -> change.future();
              case "ask" -> answer.future();
              case "tell" -> null;
              case "serve" -> {
                peerListener = (Cluster.PeerListener) arguments[0];
                yield null;
              }
              default -> throw new AssertionError(method);
            });
  }

  @BeforeEach
  void serve(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    this.vertx = vertx;
    bus = BusFixture.of(vertx, cluster());
    EventLoops.await(
        vertx,
        () -> {
          bus.serve(
              Addresses.call(ID).at(InstanceId.first(ID)),
              received -> {
                runs++;
                received.cancellation().onCancel(reason -> cancellations++);
                return Future.succeededFuture(DONE);
              });
          return Future.succeededFuture();
        });
  }

  private Future<JsonSlice> ask() {
    return bus.request(Addresses.call(ID), call);
  }

  private static Call call() {
    return new Call(
            "c",
            ID,
            Target.tool("t"),
            JsonSlice.EMPTY_OBJECT,
            Caller.named("a"),
            0,
            false,
            Envelope.NONE,
            new CancellationToken())
        .withTimeout(60_000);
  }

  private void moveHere() {
    owner = Cluster.THIS_NODE;
    Promise<Void> previous = change;
    change = Promise.promise();
    previous.complete();
  }

  @Test
  void callWaitsForItsServer() throws Exception {
    JsonSlice answer =
        EventLoops.await(
            vertx,
            () -> {
              Future<JsonSlice> response = ask();
              moveHere();
              return response;
            });

    assertEquals(DONE, answer);
    assertEquals(1, runs);
  }

  @Test
  void urgencyOfACallReachesTheOtherNode() {
    for (int urgency = Urgency.UNSPECIFIED; urgency <= Urgency.LEAST; urgency++) {
      Call sent = call().withEnvelope(Envelope.NONE.withUrgency(urgency));
      WireWriter out = new WireWriter();
      WireCodecs.CALL.write().accept(out, sent);

      Call received = WireCodecs.CALL.read().apply(new WireReader(out.toBytes()));

      assertEquals(urgency, received.envelope().urgency());
    }
  }

  @Test
  void callCancelledWhileWaitingDoesNotRun() {
    assertCancelledCallDoesNotRun(this::ask, this::moveHere);
  }

  /**
   * @param afterwards run after the cancellation
   */
  private void assertCancelledCallDoesNotRun(
      Supplier<Future<JsonSlice>> request, Runnable afterwards) {
    assertCancelled(
        assertThrows(
            BridgeException.class,
            () ->
                EventLoops.await(
                    vertx,
                    () -> {
                      Future<JsonSlice> response = request.get();
                      call.cancellation().cancel("The client left");
                      afterwards.run();
                      return response;
                    })));
  }

  private void assertCancelled(BridgeException failure) {
    assertEquals(ErrorCode.CANCELLED, failure.code());
    assertEquals(Executed.NO, failure.executed());
    assertEquals(0, runs);
  }

  private Future<JsonSlice> askFormerOwner() {
    owner = 2;
    Future<JsonSlice> response = ask();
    vertx.runOnContext(
        v -> {
          answer.fail(new BridgeException(ErrorCode.NOT_OWNER, "It has moved"));
          moveHere();
        });
    return response;
  }

  @Test
  void callCancelledAtFormerOwnerDoesNotRun() {
    assertCancelledCallDoesNotRun(this::askFormerOwner, () -> {});
  }

  @Test
  void callIsForwardedToTheNewOwner() throws Exception {
    assertEquals(DONE, EventLoops.await(vertx, this::askFormerOwner));
    assertEquals(1, runs);
  }

  /** Whether a call of the node in slot 2 runs although the given node cancels it. */
  private boolean runsWhenCancelledBy(int slot, boolean isEarly) throws Exception {
    owner = Cluster.THIS_NODE;
    cancellations = 0;
    Cancellation cancellation = new Cancellation("c", "The client left");
    byte[] failure =
        EventLoops.await(
            vertx,
            () -> {
              Promise<byte[]> answered = Promise.promise();
              Runnable cancel =
                  () ->
                      peerListener.onMessage(
                          slot, RemoteRouter.CANCEL, WireCodecs.CANCELLATION.bytes(cancellation));
              if (isEarly) {
                cancel.run();
              }
              peerListener.onRequest(
                  2,
                  Addresses.call(ID).at(InstanceId.first(ID)).name(),
                  WireCodecs.CALL.bytes(call()),
                  (result, failed) -> answered.complete(failed));
              if (!isEarly) {
                cancel.run();
              }
              return answered.future();
            });
    return failure == null && cancellations == 0;
  }

  @Test
  void callIsCancelledOnlyByItsOwnNode() throws Exception {
    assertTrue(runsWhenCancelledBy(1, true));
    assertTrue(runsWhenCancelledBy(1, false));
    assertFalse(runsWhenCancelledBy(2, false));
    assertFalse(runsWhenCancelledBy(2, true));
  }

  @Test
  void onlyTheOwnerReportsAnInstanceStopped() throws Exception {
    List<Long> epochs = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          Promise<Void> reported = Promise.promise();
          bus.subscribe(
              Addresses.INSTANCE_STOPPED,
              stopped -> {
                epochs.add(stopped.from().epoch());
                reported.complete();
              });
          peerListener.connected(1, "one");
          peerListener.connected(2, "two");
          reportStopped(2, 8);
          reportStopped(1, 7);
          return reported.future();
        });

    assertEquals(List.of(7L), epochs);
  }

  private void reportStopped(int slot, long epoch) {
    Topic<InstanceStopped> topic = Addresses.INSTANCE_STOPPED;
    peerListener.onMessage(
        slot,
        topic.name(),
        topic.wireCodec().bytes(new InstanceStopped(ID, new InstanceLocation(1, "one", epoch))));
  }

  @Test
  void onlyTheNodeThatRunsACallSendsEvents() throws Exception {
    owner = 2;
    List<String> events = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          bus.subscribe(Addresses.callEvents("c"), event -> events.add(event.name()));
          Future<JsonSlice> response = ask();
          sendEvent(1, "forged");
          sendEvent(2, "progress");
          vertx.runOnContext(v -> answer.fail(new BridgeException(ErrorCode.CANCELLED, "over")));
          return response.otherwiseEmpty();
        });

    assertEquals(List.of("progress"), events);
  }

  private void sendEvent(int slot, String event) {
    Topic<CallEvent> topic = Addresses.callEvents("c");
    peerListener.onMessage(
        slot, topic.name(), topic.wireCodec().bytes(new CallEvent(event, JsonSlice.EMPTY_OBJECT)));
  }

  @Test
  void onlyTheNodeThatRunsACallAsksItsClient() throws Exception {
    owner = 2;
    List<Integer> answered = new ArrayList<>();
    EventLoops.await(
        vertx,
        () -> {
          bus.serve(Addresses.clientRequest("c"), serverRequest -> Future.succeededFuture(DONE));
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
    Address<ServerRequest, JsonSlice> address = Addresses.clientRequest("c");
    peerListener.onRequest(
        slot,
        address.name(),
        address.requestCodec().bytes(new ServerRequest("roots/list", JsonSlice.EMPTY_OBJECT)),
        answered);
  }

  @Test
  void remoteCallCancelledBeforeItArrivesDoesNotRun() throws Exception {
    owner = Cluster.THIS_NODE;
    Cancellation cancellation = new Cancellation("c", "The client left");
    byte[] failure =
        EventLoops.await(
            vertx,
            () -> {
              Promise<byte[]> answered = Promise.promise();
              peerListener.onMessage(
                  2, RemoteRouter.CANCEL, WireCodecs.CANCELLATION.bytes(cancellation));
              peerListener.onRequest(
                  2,
                  Addresses.call(ID).at(InstanceId.first(ID)).name(),
                  WireCodecs.CALL.bytes(call()),
                  (result, failed) -> answered.complete(failed));
              return answered.future();
            });

    assertCancelled(FailureCodec.CODEC.of(failure));
  }
}
