package dev.mcpbridge.bus;

import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.link.Links.RemoteFailure;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The other nodes' part of the bus: finds who has a server, asks there, and answers what others ask
 * here. A question that surely was not looked at is asked again where its server is now; one that
 * was sent and not answered never is. Confined to the event loop.
 */
final class RemoteRouter implements Cluster.PeerListener {
  private static final int LARGE_NEWS = 32 << 10;
  private static final long LARGE_NEWS_MILLIS = 10_000;
  private static final byte[] NOTHING = {};

  private static final int MAX_WAITING = 20_000;
  private static final int MAX_EARLY = 1_000;
  private static final long MAX_WAIT_NANOS = 30_000_000_000L;

  private final Bus bus;
  private final Cluster cluster;
  private final Counts counts;
  private final Map<String, Address<?, ?>> served = new HashMap<>();
  private final Map<String, Topic<?>> heard = new HashMap<>();
  private final Map<String, Integer> callers = new HashMap<>();
  private final Map<Integer, String> names = new HashMap<>();
  private final LeastRequestBalancer leastRequestBalancer;
  private final Map<String, RemoteRequest> calls = new HashMap<>();

  /** Why calls were given up before they came: large ones take longer. */
  private final Map<EarlyCancellation, String> givenUpEarly =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<EarlyCancellation, String> eldest) {
          return size() > MAX_EARLY;
        }
      };

  private int waiting;

  /** By the id of their calls, what of the news for their callers is large and under way. */
  private final Map<String, Future<byte[]>> largeNews = new HashMap<>();

  /** A call of the node in a slot. */
  private record EarlyCancellation(int slot, String callId) {}

  RemoteRouter(Bus bus, Cluster cluster, Counts counts) {
    this.bus = bus;
    this.cluster = cluster;
    this.counts = counts;
    this.leastRequestBalancer = new LeastRequestBalancer(cluster);
    cluster.serve(this);
  }

  /** Listens to how the parts of servers stand. */
  void open() {
    bus.subscribe(Addresses.PART_CHANGED, leastRequestBalancer::heard);
    bus.subscribe(Addresses.SERVER_FORGOTTEN, leastRequestBalancer::forget);
  }

  // --- what is asked and told here

  <Q, A> Future<A> request(Address<Q, A> address, Q question) {
    if (address.addressScope().callId() != null) {
      Integer caller = callers.get(address.addressScope().callId());
      return caller == null ? bus.requestHere(address, question) : ask(caller, address, question);
    }
    long patience = Math.min(MAX_WAIT_NANOS, address.answerTimeout().millis(question) * 1_000_000);
    RemoteRequest by = new RemoteRequest();
    Future<A> answer =
        atOwner(
            address, new SentRequest<>(question, by, System.nanoTime() + patience, Set.of(), null));
    if (question instanceof Call call && !answer.isComplete()) {
      calls.put(call.id(), by);
      answer.onComplete(over -> calls.remove(call.id(), by));
    }
    return answer;
  }

  /** Whoever asks, until they have an answer or give it up. */
  private static final class RemoteRequest {
    private Promise<Void> waiting = Promise.promise();
    private BridgeException givenUp;

    /** The slot of the node that was asked last. */
    private int at = Cluster.NOWHERE;

    /** Fails, and does not wait for it, where it is given up. */
    Future<Void> until(Future<Void> change) {
      Promise<Void> turn = Promise.promise();
      waiting = turn;
      change.onComplete(changed -> turn.tryComplete());
      return stillWanted().compose(yes -> turn.future());
    }

    Future<Void> stillWanted() {
      return givenUp == null ? Future.succeededFuture() : Future.failedFuture(givenUp);
    }

    void giveUp(BridgeException why) {
      givenUp = why;
      waiting.tryFail(why);
    }
  }

  /**
   * A question on its way to whoever has a part.
   *
   * @param tried where it was not to be had, since the last change
   * @param last failure of those; null for none
   */
  private record SentRequest<Q>(
      Q question, RemoteRequest by, long untilNanos, Set<InstanceId> tried, BridgeException last) {

    SentRequest<Q> notAt(InstanceId instanceId, BridgeException why) {
      Set<InstanceId> more = new HashSet<>(tried);
      more.add(instanceId);
      return new SentRequest<>(question, by, untilNanos, more, why);
    }

    SentRequest<Q> anew() {
      return new SentRequest<>(question, by, untilNanos, Set.of(), null);
    }
  }

  private <Q, A> Future<A> atOwner(Address<Q, A> address, SentRequest<Q> sentRequest) {
    AddressScope addressScope = address.addressScope();
    InstanceId instanceId =
        addressScope.isAny()
            ? leastRequestBalancer.of(addressScope.instanceId().server(), sentRequest.tried())
            : addressScope.instanceId();
    int owner = cluster.owner(instanceId);
    if (owner == Cluster.NOWHERE || sentRequest.tried().contains(instanceId)) {
      return waitAndRetry(address, sentRequest);
    }
    Address<Q, A> there = addressScope.isAny() ? address.at(instanceId) : address;
    sentRequest.by().at = owner;
    leastRequestBalancer.begun(instanceId);
    Future<A> answer =
        owner == Cluster.HERE
            ? bus.requestHere(there, sentRequest.question())
            : ask(owner, there, sentRequest.question());
    return answer
        .onComplete(done -> leastRequestBalancer.ended(instanceId))
        .recover(
            failure ->
                wasMisdirected(failure)
                    ? sentRequest
                        .by()
                        .stillWanted()
                        .compose(
                            yes ->
                                atOwner(
                                    address,
                                    sentRequest.notAt(instanceId, (BridgeException) failure)))
                    : Future.failedFuture(failure));
  }

  /** Until the owner is another one, or can be reached. */
  private <Q, A> Future<A> waitAndRetry(Address<Q, A> address, SentRequest<Q> sentRequest) {
    ServerId server = address.addressScope().instanceId().server();
    if (cluster.isCutOff()) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.NO_QUORUM, "This node is cut off from more than half of the others")
              .withRetryAfter(2_000));
    }
    boolean isOver =
        System.nanoTime() - sentRequest.untilNanos() >= 0 || !cluster.owners().knows(server);
    if (isOver || waiting >= MAX_WAITING) {
      return Future.failedFuture(
          sentRequest.last() != null
              ? sentRequest.last()
              : new BridgeException(
                      ErrorCode.SERVER_UNAVAILABLE,
                      "No node of the cluster runs server '" + server + "' at the moment")
                  .withRetryAfter(1_000));
    }
    waiting++;
    return sentRequest
        .by()
        .until(cluster.change())
        .transform(
            changed -> {
              waiting--;
              return changed.succeeded()
                  ? atOwner(address, sentRequest.anew())
                  : Future.failedFuture(changed.cause());
            });
  }

  /** False for a call that has not been asked for, or not here: nobody else knows it. */
  private boolean giveUp(Cancellation cancellation) {
    RemoteRequest remoteRequest = calls.get(cancellation.callId());
    if (remoteRequest != null) {
      remoteRequest.giveUp(new BridgeException(ErrorCode.CANCELLED, cancellation.reason()));
    }
    return remoteRequest != null;
  }

  /** Whoever was asked did not have it, or was not reached: nothing has happened. */
  private static boolean wasMisdirected(Throwable failure) {
    return failure instanceof BridgeException known
        && known.executed() == Executed.NO
        && (known.code() == ErrorCode.NOT_OWNER || known.code() == ErrorCode.NODE_UNREACHABLE);
  }

  private <Q, A> Future<A> ask(int slot, Address<Q, A> address, Q question) {
    counts.askedNode();
    return cluster
        .ask(
            slot,
            address.name(),
            address.question().bytes(question),
            address.answerTimeout().millis(question))
        .map(answer -> address.answer().of(answer))
        .recover(failure -> Future.failedFuture(understood(failure)));
  }

  private Throwable understood(Throwable failure) {
    if (failure instanceof RemoteFailure remote) {
      return FailureCodec.FORM.of(remote.bytes());
    }
    counts.lostNode();
    return failure;
  }

  <T> void publish(Topic<T> topic, T news) {
    if (news instanceof Cancellation cancellation && !giveUp(cancellation)) {
      return;
    }
    AddressScope addressScope = topic.addressScope();
    if (addressScope.isEverywhere()) {
      cluster.tellAll(topic.name(), topic.wireCodec().bytes(news));
    } else if (addressScope.instanceId() != null) {
      cluster.owners().parts(addressScope.instanceId().server()).stream()
          .map(cluster::owner)
          .filter(owner -> owner >= 0)
          .distinct()
          .forEach(owner -> cluster.tell(owner, topic.name(), topic.wireCodec().bytes(news)));
    } else if (addressScope.callId() != null && callers.containsKey(addressScope.callId())) {
      tellCaller(addressScope.callId(), topic.name(), topic.wireCodec().bytes(news));
    }
  }

  /**
   * Tells who has made a call what happens in it. Something large goes in pieces, which smaller
   * things would overtake; so what follows waits until it has come.
   */
  private void tellCaller(String callId, String topic, byte[] body) {
    int slot = callers.get(callId);
    Future<?> before = largeNews.get(callId);
    if (body.length <= LARGE_NEWS && before == null) {
      cluster.tell(slot, topic, body);
      return;
    }
    Future<byte[]> come =
        before == null
            ? cluster.ask(slot, topic, body, LARGE_NEWS_MILLIS)
            : before.transform(over -> cluster.ask(slot, topic, body, LARGE_NEWS_MILLIS));
    largeNews.put(callId, come);
    come.onComplete(over -> largeNews.remove(callId, come));
  }

  /** Whether somebody on this node may want to hear of it. */
  boolean isForHere(Topic<?> topic) {
    String call = topic.addressScope().callId();
    return call == null || !callers.containsKey(call);
  }

  // --- what others ask and tell

  Runnable serve(Address<?, ?> address) {
    if (address.addressScope() == AddressScope.HERE || cluster.isAlone()) {
      return () -> {};
    }
    served.put(address.name(), address);
    return () -> served.remove(address.name(), address);
  }

  Runnable subscribe(Topic<?> topic) {
    if (topic.addressScope() == AddressScope.HERE || cluster.isAlone()) {
      return () -> {};
    }
    heard.put(topic.name(), topic);
    return topic.addressScope().callId() == null
        ? () -> {}
        : () -> heard.remove(topic.name(), topic);
  }

  @Override
  public void asked(int slot, String name, byte[] body, BiConsumer<byte[], byte[]> answer) {
    if (heard.containsKey(name)) {
      told(slot, name, body);
      answer.accept(NOTHING, null);
      return;
    }
    Address<?, ?> address = served.get(name);
    boolean isHere =
        address != null
            && isOfWhoRuns(address.addressScope(), slot)
            && (address.addressScope().instanceId() == null
                || cluster.owner(address.addressScope().instanceId()) == Cluster.HERE);
    if (!isHere) {
      BridgeException elsewhere =
          new BridgeException(
              ErrorCode.NOT_OWNER, "Node " + cluster.name() + " does not have what was asked for");
      answer.accept(null, FailureCodec.FORM.bytes(elsewhere.withRetryAfter(1_000)));
      return;
    }
    answer(slot, address, body, answer);
  }

  /** The client of a call is asked and told things only by the node that was asked to run it. */
  private boolean isOfWhoRuns(AddressScope addressScope, int slot) {
    if (addressScope.callId() == null) {
      return true;
    }
    RemoteRequest call = calls.get(addressScope.callId());
    return call != null && call.at == slot;
  }

  private <Q, A> void answer(
      int slot, Address<Q, A> address, byte[] body, BiConsumer<byte[], byte[]> answer) {
    Q question = address.question().of(body);
    if (question instanceof Call call) {
      String givenUp = givenUpEarly.remove(new EarlyCancellation(slot, call.id()));
      if (givenUp != null) {
        answer.accept(
            null, FailureCodec.FORM.bytes(new BridgeException(ErrorCode.CANCELLED, givenUp)));
        return;
      }
      callers.put(call.id(), slot);
    }
    Future<A> done = bus.requestHere(address, question);
    done.onComplete(
        over -> {
          Future<?> news = null;
          if (question instanceof Call call) {
            callers.remove(call.id());
            news = largeNews.get(call.id());
          }
          if (news == null) {
            answer(address, done, answer);
          } else {
            news.onComplete(come -> answer(address, done, answer));
          }
        });
  }

  private static <A> void answer(
      Address<?, A> address, Future<A> done, BiConsumer<byte[], byte[]> answer) {
    done.onSuccess(found -> answer.accept(address.answer().bytes(found), null))
        .onFailure(
            failure -> answer.accept(null, FailureCodec.FORM.bytes(BridgeException.of(failure))));
  }

  @Override
  public void told(int slot, String name, byte[] body) {
    Topic<?> topic = heard.get(name);
    if (topic != null && isOfWhoRuns(topic.addressScope(), slot)) {
      hear(slot, topic, body);
    }
  }

  private <T> void hear(int slot, Topic<T> topic, byte[] body) {
    T news = topic.wireCodec().of(body);
    if (maySay(slot, news)) {
      bus.publishHere(topic, news);
    }
  }

  /** A node speaks of its own calls, and of what runs there. */
  private boolean maySay(int slot, Object news) {
    if (news instanceof Cancellation cancellation) {
      return isOfCaller(slot, cancellation);
    }
    if (news instanceof ServerView view) {
      return view.residences().stream().allMatch(at -> isOfNode(slot, at));
    }
    return !(news instanceof InstanceStopped instanceStopped)
        || isOfNode(slot, instanceStopped.from());
  }

  private boolean isOfNode(int slot, InstanceLocation at) {
    return names.get(slot).equals(at.node());
  }

  /** Only the node that asked for a call can give it up; its word may come before the call. */
  private boolean isOfCaller(int slot, Cancellation cancellation) {
    Integer caller = callers.get(cancellation.callId());
    if (caller == null) {
      givenUpEarly.put(new EarlyCancellation(slot, cancellation.callId()), cancellation.reason());
    }
    return caller != null && caller == slot;
  }

  @Override
  public void connected(int slot, String node) {
    names.put(slot, node);
    bus.publishHere(Addresses.NODE_CONNECTED, slot);
  }
}
