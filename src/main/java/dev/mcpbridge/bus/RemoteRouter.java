package dev.mcpbridge.bus;

import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.peer.RemoteFailure;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Routes messages of the bus between nodes: sends requests to the owner of a server and serves the
 * requests of other nodes. A request that was certainly not handled is retried at the server's
 * current owner; one that was sent and not answered is never retried. Confined to the event loop.
 */
final class RemoteRouter implements Cluster.PeerListener {
  private static final int LARGE_EVENT_BYTES = 32 << 10;
  private static final long LARGE_EVENT_MILLIS = 10_000;
  private static final byte[] EMPTY = {};
  static final String CANCEL = "call.cancel";
  private static final long REPEAT_MILLIS = 5_000;
  private static final int MAX_WAITING = 20_000;
  private static final int MAX_EARLY_CANCELLATIONS = 1_000;
  private static final long MAX_WAIT_NANOS = 30_000_000_000L;

  private final Bus bus;
  private final Cluster cluster;
  private final Counts counts;
  private final Map<String, Address<?, ?>> served = new HashMap<>();
  private final Map<String, Topic<?>> subscribed = new HashMap<>();
  private final Map<String, InboundCall> inbound = new HashMap<>();
  private final Map<Integer, String> names = new HashMap<>();
  private final LeastRequestBalancer leastRequestBalancer;

  /** The node that has each call of this node, by call id. */
  private final Map<String, Integer> outbound = new HashMap<>();

  /** Reasons of cancellations that arrived before their call, since large calls arrive later. */
  private final Map<EarlyCancellation, String> cancelledEarly =
      new BoundedMap<>(MAX_EARLY_CANCELLATIONS);

  private int waiting;

  /** The last large event that is being sent to the caller of a call, by call id. */
  private final Map<String, Future<byte[]>> largeEvents = new HashMap<>();

  private record EarlyCancellation(int slot, String callId) {}

  /** A call that another node sent here. */
  private record InboundCall(int slot, CancellationToken cancellation) {}

  RemoteRouter(Bus bus, Cluster cluster, Counts counts) {
    this.bus = bus;
    this.cluster = cluster;
    this.counts = counts;
    this.leastRequestBalancer = new LeastRequestBalancer(cluster);
    cluster.serve(this);
  }

  void open() {
    bus.subscribe(Addresses.INSTANCE_CHANGED, leastRequestBalancer::update);
    bus.subscribe(Addresses.SERVER_REMOVED, leastRequestBalancer::forget);
  }

  // --- outbound

  <Q, A> Future<A> request(Address<Q, A> address, Q question) {
    if (address.addressScope().slot() != 0) {
      return ask(address.addressScope().slot(), address, question);
    }
    String callId = address.addressScope().callId();
    if (callId != null) {
      InboundCall call = inbound.get(callId);
      return call == null
          ? bus.requestLocally(address, question)
          : ask(call.slot(), address, question);
    }
    long millis = address.answerTimeout().millis(question);
    long untilNanos = System.nanoTime() + Math.min(MAX_WAIT_NANOS, millis * 1_000_000);
    Future<A> answer = atOwner(address, new SentRequest<>(question, untilNanos, Set.of(), null));
    return question instanceof Call call
        ? answer.onComplete(over -> outbound.remove(call.id()))
        : answer;
  }

  /**
   * An attempt to send a request to the owner of an instance.
   *
   * @param tried instances that rejected it since the last change of owners
   * @param last failure of the last of them; null if there was no attempt
   */
  private record SentRequest<Q>(
      Q body, long untilNanos, Set<InstanceId> tried, BridgeException last) {

    SentRequest<Q> without(InstanceId instanceId, BridgeException failure) {
      Set<InstanceId> failed = new HashSet<>(tried);
      failed.add(instanceId);
      return new SentRequest<>(body, untilNanos, failed, failure);
    }

    /** Fails if the request is a call that is cancelled. */
    Future<Void> checkCancelled() {
      if (body instanceof Call call) {
        return Future.succeededFuture(call)
            .map(
                sent -> {
                  sent.cancellation().check();
                  return null;
                });
      }
      return Future.succeededFuture();
    }

    /** Waits for a change; fails at once if the request is a call that is cancelled. */
    Future<Void> await(Future<Void> change) {
      Promise<Void> changedOrCancelled = Promise.promise();
      if (body instanceof Call call) {
        call.cancellation().onCancel(changedOrCancelled::tryFail);
      }
      change.onComplete(changed -> changedOrCancelled.tryComplete());
      return changedOrCancelled.future();
    }

    SentRequest<Q> retry() {
      return new SentRequest<>(body, untilNanos, Set.of(), null);
    }
  }

  private <Q, A> Future<A> atOwner(Address<Q, A> address, SentRequest<Q> sentRequest) {
    AddressScope addressScope = address.addressScope();
    InstanceId instanceId =
        addressScope.isAny()
            ? leastRequestBalancer.select(addressScope.instanceId().server(), sentRequest.tried())
            : addressScope.instanceId();
    int owner = cluster.owner(instanceId);
    if (owner == Cluster.NO_OWNER || sentRequest.tried().contains(instanceId)) {
      return waitAndRetry(address, sentRequest);
    }
    Address<Q, A> atInstance = addressScope.isAny() ? address.at(instanceId) : address;
    if (sentRequest.body() instanceof Call call) {
      outbound.put(call.id(), owner);
    }
    leastRequestBalancer.begun(instanceId);
    Future<A> answer =
        owner == Cluster.THIS_NODE
            ? bus.requestLocally(atInstance, sentRequest.body())
            : ask(owner, atInstance, sentRequest.body());
    return answer
        .onComplete(done -> leastRequestBalancer.ended(instanceId))
        .recover(
            failure ->
                wasMisdirected(failure)
                    ? sentRequest
                        .checkCancelled()
                        .compose(
                            active ->
                                atOwner(
                                    address,
                                    sentRequest.without(instanceId, (BridgeException) failure)))
                    : Future.failedFuture(failure));
  }

  /** Waits until the owner changes or becomes reachable, then retries. */
  private <Q, A> Future<A> waitAndRetry(Address<Q, A> address, SentRequest<Q> sentRequest) {
    ServerId server = address.addressScope().instanceId().server();
    if (cluster.isCutOff()) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.NO_QUORUM, "This node cannot reach a majority of the cluster")
              .withRetryAfter(2_000));
    }
    boolean isExpired =
        System.nanoTime() - sentRequest.untilNanos() >= 0 || !cluster.owners().knows(server);
    if (isExpired || waiting >= MAX_WAITING) {
      return Future.failedFuture(
          sentRequest.last() != null
              ? sentRequest.last()
              : new BridgeException(
                      ErrorCode.SERVER_UNAVAILABLE,
                      "No node of the cluster currently runs server '" + server + "'")
                  .withRetryAfter(1_000));
    }
    waiting++;
    return sentRequest
        .await(cluster.change())
        .transform(
            changed -> {
              waiting--;
              return changed.succeeded()
                  ? atOwner(address, sentRequest.retry())
                  : Future.failedFuture(changed.cause());
            });
  }

  /** Whether the node was not the owner or not reachable, so that the request was not handled. */
  private static boolean wasMisdirected(Throwable failure) {
    return failure instanceof BridgeException refusal
        && refusal.executed() == Executed.NO
        && (refusal.code() == ErrorCode.NOT_OWNER || refusal.code() == ErrorCode.NODE_UNREACHABLE);
  }

  private <Q, A> Future<A> ask(int slot, Address<Q, A> address, Q question) {
    counts.nodeRequested();
    if (question instanceof Call call && bus.telemetry().tracer().isOn()) {
      return span(Span.Kind.CLIENT, slot, call, sent -> send(slot, address, cast(sent)));
    }
    return send(slot, address, question);
  }

  /**
   * Runs a call, or sends it, as a step of its trace.
   *
   * @param slot of the other node
   */
  private <A> Future<A> span(Span.Kind kind, int slot, Call call, Function<Call, Future<A>> run) {
    Span span = bus.telemetry().tracer().begin(kind, Conventions.NODE_SPAN, call.envelope());
    span.set(Conventions.NODE, names.get(slot));
    return span.until(run.apply(call.withEnvelope(span.in(call.envelope()))));
  }

  @SuppressWarnings("unchecked") // the question of the address is a call
  private static <Q> Q cast(Call call) {
    return (Q) call;
  }

  private <Q, A> Future<A> send(int slot, Address<Q, A> address, Q question) {
    Future<A> response =
        cluster
            .ask(
                slot,
                address.name(),
                address.requestCodec().bytes(question),
                address.answerTimeout().millis(question))
            .map(answer -> address.responseCodec().of(answer))
            .recover(failure -> Future.failedFuture(decoded(failure)));
    if (question instanceof Call call) {
      call.cancellation().onCancel(reason -> cancelUntilAnswered(slot, call, reason, response));
    }
    return response;
  }

  /** Cancels a call at the node that has it; again until it answers, as a message may be lost. */
  private void cancelUntilAnswered(
      int slot, Call call, BridgeException reason, Future<?> response) {
    if (!response.isComplete()) {
      Cancellation cancellation = new Cancellation(call.id(), reason.getMessage());
      cluster.tell(slot, CANCEL, WireCodecs.CANCELLATION.bytes(cancellation));
      bus.later(REPEAT_MILLIS, () -> cancelUntilAnswered(slot, call, reason, response));
    }
  }

  private Throwable decoded(Throwable failure) {
    if (failure instanceof RemoteFailure remote) {
      return FailureCodec.CODEC.of(remote.bytes());
    }
    counts.nodeRequestLost();
    return failure;
  }

  /** Publishes a message at this node, if its subscribers may be here, and at others. */
  <T> void publish(Topic<T> topic, T message) {
    if (isForHere(topic)) {
      bus.publishLocally(topic, message);
    }
    AddressScope addressScope = topic.addressScope();
    if (addressScope.isEverywhere()) {
      cluster.tellAll(topic.name(), topic.wireCodec().bytes(message));
    } else if (addressScope.callId() != null && inbound.containsKey(addressScope.callId())) {
      tellCaller(addressScope.callId(), topic.name(), topic.wireCodec().bytes(message));
    }
  }

  /**
   * Sends an event to the caller of a call. A large event is sent in pieces, which smaller messages
   * would overtake, so later events wait until it has been received.
   */
  private void tellCaller(String callId, String topic, byte[] body) {
    int slot = inbound.get(callId).slot();
    Future<?> previous = largeEvents.get(callId);
    if (body.length <= LARGE_EVENT_BYTES && previous == null) {
      cluster.tell(slot, topic, body);
      return;
    }
    Future<byte[]> received =
        previous == null
            ? cluster.ask(slot, topic, body, LARGE_EVENT_MILLIS)
            : previous.transform(over -> cluster.ask(slot, topic, body, LARGE_EVENT_MILLIS));
    largeEvents.put(callId, received);
    received.onComplete(over -> largeEvents.remove(callId, received));
  }

  /** Whether the subscribers of a topic may be on this node. */
  private boolean isForHere(Topic<?> topic) {
    String callId = topic.addressScope().callId();
    return callId == null || !inbound.containsKey(callId);
  }

  // --- inbound

  void serve(Address<?, ?> address) {
    if (address.addressScope() != AddressScope.LOCAL) {
      served.put(address.name(), address);
    }
  }

  void unregister(Address<?, ?> address) {
    served.remove(address.name(), address);
  }

  void subscribe(Topic<?> topic) {
    if (topic.addressScope() != AddressScope.LOCAL) {
      subscribed.put(topic.name(), topic);
    }
  }

  /** Topics that are not of one call have several subscribers and stay subscribed. */
  void unsubscribe(Topic<?> topic) {
    if (topic.addressScope().callId() != null) {
      subscribed.remove(topic.name(), topic);
    }
  }

  @Override
  public void onRequest(int slot, String name, byte[] body, BiConsumer<byte[], byte[]> answer) {
    if (subscribed.containsKey(name)) {
      onMessage(slot, name, body);
      answer.accept(EMPTY, null);
      return;
    }
    Address<?, ?> address = served.get(name);
    boolean isServed =
        address != null
            && runsCall(address.addressScope(), slot)
            && (address.addressScope().instanceId() == null
                || cluster.owner(address.addressScope().instanceId()) == Cluster.THIS_NODE);
    if (!isServed) {
      BridgeException notOwner =
          new BridgeException(
              ErrorCode.NOT_OWNER, "Node " + cluster.name() + " does not own '" + name + "'");
      answer.accept(null, FailureCodec.CODEC.bytes(notOwner.withRetryAfter(1_000)));
      return;
    }
    answer(slot, address, body, answer);
  }

  /** Only the node that a call was sent to may send requests and events to the call's client. */
  private boolean runsCall(AddressScope addressScope, int slot) {
    if (addressScope.callId() == null) {
      return true;
    }
    Integer owner = outbound.get(addressScope.callId());
    return owner != null && owner == slot;
  }

  private <Q, A> void answer(
      int slot, Address<Q, A> address, byte[] body, BiConsumer<byte[], byte[]> answer) {
    Q question = address.requestCodec().of(body);
    if (question instanceof Call call) {
      String reason = cancelledEarly.remove(new EarlyCancellation(slot, call.id()));
      if (reason != null) {
        answer.accept(
            null, FailureCodec.CODEC.bytes(new BridgeException(ErrorCode.CANCELLED, reason)));
        return;
      }
      inbound.put(call.id(), new InboundCall(slot, call.cancellation()));
    }
    Future<A> outcome =
        question instanceof Call call && bus.telemetry().tracer().isOn()
            ? span(Span.Kind.SERVER, slot, call, sent -> bus.requestLocally(address, cast(sent)))
            : bus.requestLocally(address, question);
    outcome.onComplete(
        over -> {
          Future<?> largeEvent = null;
          if (question instanceof Call call) {
            inbound.remove(call.id());
            largeEvent = largeEvents.get(call.id());
          }
          if (largeEvent == null) {
            answer(address, outcome, answer);
          } else {
            largeEvent.onComplete(received -> answer(address, outcome, answer));
          }
        });
  }

  private static <A> void answer(
      Address<?, A> address, Future<A> outcome, BiConsumer<byte[], byte[]> answer) {
    outcome
        .onSuccess(response -> answer.accept(address.responseCodec().bytes(response), null))
        .onFailure(
            failure -> answer.accept(null, FailureCodec.CODEC.bytes(BridgeException.of(failure))));
  }

  @Override
  public void onMessage(int slot, String name, byte[] body) {
    if (name.equals(CANCEL)) {
      cancelInbound(slot, WireCodecs.CANCELLATION.of(body));
      return;
    }
    Topic<?> topic = subscribed.get(name);
    if (topic != null && runsCall(topic.addressScope(), slot)) {
      deliver(slot, topic, body);
    }
  }

  private <T> void deliver(int slot, Topic<T> topic, byte[] body) {
    T message = topic.wireCodec().of(body);
    if (mayPublish(slot, message)) {
      bus.publishLocally(topic, message);
    }
  }

  /** A node may publish only about the instances that it runs. */
  private boolean mayPublish(int slot, Object message) {
    if (message instanceof ServerView view) {
      return view.locations().stream().allMatch(location -> isOfNode(slot, location));
    }
    return !(message instanceof InstanceStopped instanceStopped)
        || isOfNode(slot, instanceStopped.from());
  }

  private boolean isOfNode(int slot, InstanceLocation location) {
    return names.get(slot).equals(location.node());
  }

  /** Only the node that sent a call can cancel it. The cancellation may arrive first. */
  private void cancelInbound(int slot, Cancellation cancellation) {
    InboundCall call = inbound.get(cancellation.callId());
    if (call == null) {
      cancelledEarly.put(new EarlyCancellation(slot, cancellation.callId()), cancellation.reason());
    } else if (call.slot() == slot) {
      call.cancellation().cancel(cancellation.reason());
    }
  }

  @Override
  public void connected(int slot, String node) {
    names.put(slot, node);
    bus.publishLocally(Addresses.NODE_CONNECTED, slot);
  }
}
