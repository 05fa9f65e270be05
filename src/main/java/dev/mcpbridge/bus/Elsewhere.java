package dev.mcpbridge.bus;

import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.Departure;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.link.Links.RemoteFailure;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.Residence;
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
final class Elsewhere implements Cluster.Correspondent {
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
  private final Choice choice;
  private final Map<String, Asking> calls = new HashMap<>();

  /** Why calls were given up before they came: large ones take longer. */
  private final Map<Early, String> givenUpEarly =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Early, String> eldest) {
          return size() > MAX_EARLY;
        }
      };

  private int waiting;

  /** By the id of their calls, what of the news for their callers is large and under way. */
  private final Map<String, Future<byte[]>> largeNews = new HashMap<>();

  /** A call of the node in a slot. */
  private record Early(int slot, String callId) {}

  Elsewhere(Bus bus, Cluster cluster, Counts counts) {
    this.bus = bus;
    this.cluster = cluster;
    this.counts = counts;
    this.choice = new Choice(cluster);
    cluster.serve(this);
  }

  /** Listens to how the parts of servers stand. */
  void open() {
    bus.subscribe(Addresses.PART_CHANGED, choice::heard);
    bus.subscribe(Addresses.SERVER_FORGOTTEN, choice::forget);
  }

  // --- what is asked and told here

  <Q, A> Future<A> request(Address<Q, A> address, Q question) {
    if (address.reach().callId() != null) {
      Integer caller = callers.get(address.reach().callId());
      return caller == null ? bus.requestHere(address, question) : ask(caller, address, question);
    }
    long patience = Math.min(MAX_WAIT_NANOS, address.patience().millis(question) * 1_000_000);
    Asking by = new Asking();
    Future<A> answer =
        atOwner(address, new Asked<>(question, by, System.nanoTime() + patience, Set.of(), null));
    if (question instanceof Call call && !answer.isComplete()) {
      calls.put(call.id(), by);
      answer.onComplete(over -> calls.remove(call.id(), by));
    }
    return answer;
  }

  /** Whoever asks, until they have an answer or give it up. */
  private static final class Asking {
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
  private record Asked<Q>(
      Q question, Asking by, long untilNanos, Set<Part> tried, BridgeException last) {

    Asked<Q> notAt(Part part, BridgeException why) {
      Set<Part> more = new HashSet<>(tried);
      more.add(part);
      return new Asked<>(question, by, untilNanos, more, why);
    }

    Asked<Q> anew() {
      return new Asked<>(question, by, untilNanos, Set.of(), null);
    }
  }

  private <Q, A> Future<A> atOwner(Address<Q, A> address, Asked<Q> asked) {
    Reach reach = address.reach();
    Part part = reach.isAny() ? choice.of(reach.part().server(), asked.tried()) : reach.part();
    int owner = cluster.owner(part);
    if (owner == Cluster.NOWHERE || asked.tried().contains(part)) {
      return waitAndRetry(address, asked);
    }
    Address<Q, A> there = reach.isAny() ? address.at(part) : address;
    asked.by().at = owner;
    choice.begun(part);
    Future<A> answer =
        owner == Cluster.HERE
            ? bus.requestHere(there, asked.question())
            : ask(owner, there, asked.question());
    return answer
        .onComplete(done -> choice.ended(part))
        .recover(
            failure ->
                wasMisdirected(failure)
                    ? asked
                        .by()
                        .stillWanted()
                        .compose(
                            yes -> atOwner(address, asked.notAt(part, (BridgeException) failure)))
                    : Future.failedFuture(failure));
  }

  /** Until the owner is another one, or can be reached. */
  private <Q, A> Future<A> waitAndRetry(Address<Q, A> address, Asked<Q> asked) {
    ServerId server = address.reach().part().server();
    if (cluster.isCutOff()) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.NO_QUORUM, "This node is cut off from more than half of the others")
              .withRetryAfter(2_000));
    }
    boolean isOver = System.nanoTime() - asked.untilNanos() >= 0 || !cluster.owners().knows(server);
    if (isOver || waiting >= MAX_WAITING) {
      return Future.failedFuture(
          asked.last() != null
              ? asked.last()
              : new BridgeException(
                      ErrorCode.SERVER_UNAVAILABLE,
                      "No node of the cluster runs server '" + server + "' at the moment")
                  .withRetryAfter(1_000));
    }
    waiting++;
    return asked
        .by()
        .until(cluster.change())
        .transform(
            changed -> {
              waiting--;
              return changed.succeeded()
                  ? atOwner(address, asked.anew())
                  : Future.failedFuture(changed.cause());
            });
  }

  /** False for a call that has not been asked for, or not here: nobody else knows it. */
  private boolean giveUp(Cancellation cancellation) {
    Asking asking = calls.get(cancellation.callId());
    if (asking != null) {
      asking.giveUp(new BridgeException(ErrorCode.CANCELLED, cancellation.reason()));
    }
    return asking != null;
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
            address.patience().millis(question))
        .map(answer -> address.answer().of(answer))
        .recover(failure -> Future.failedFuture(understood(failure)));
  }

  private Throwable understood(Throwable failure) {
    if (failure instanceof RemoteFailure remote) {
      return Failures.FORM.of(remote.bytes());
    }
    counts.lostNode();
    return failure;
  }

  <T> void publish(Topic<T> topic, T news) {
    if (news instanceof Cancellation cancellation && !giveUp(cancellation)) {
      return;
    }
    Reach reach = topic.reach();
    if (reach.isEverywhere()) {
      cluster.tellAll(topic.name(), topic.form().bytes(news));
    } else if (reach.part() != null) {
      cluster.owners().parts(reach.part().server()).stream()
          .map(cluster::owner)
          .filter(owner -> owner >= 0)
          .distinct()
          .forEach(owner -> cluster.tell(owner, topic.name(), topic.form().bytes(news)));
    } else if (reach.callId() != null && callers.containsKey(reach.callId())) {
      tellCaller(reach.callId(), topic.name(), topic.form().bytes(news));
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
    String call = topic.reach().callId();
    return call == null || !callers.containsKey(call);
  }

  // --- what others ask and tell

  Runnable serve(Address<?, ?> address) {
    if (address.reach() == Reach.HERE || cluster.isAlone()) {
      return () -> {};
    }
    served.put(address.name(), address);
    return () -> served.remove(address.name(), address);
  }

  Runnable subscribe(Topic<?> topic) {
    if (topic.reach() == Reach.HERE || cluster.isAlone()) {
      return () -> {};
    }
    heard.put(topic.name(), topic);
    return topic.reach().callId() == null ? () -> {} : () -> heard.remove(topic.name(), topic);
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
            && isOfWhoRuns(address.reach(), slot)
            && (address.reach().part() == null
                || cluster.owner(address.reach().part()) == Cluster.HERE);
    if (!isHere) {
      BridgeException elsewhere =
          new BridgeException(
              ErrorCode.NOT_OWNER, "Node " + cluster.name() + " does not have what was asked for");
      answer.accept(null, Failures.FORM.bytes(elsewhere.withRetryAfter(1_000)));
      return;
    }
    answer(slot, address, body, answer);
  }

  /** The client of a call is asked and told things only by the node that was asked to run it. */
  private boolean isOfWhoRuns(Reach reach, int slot) {
    if (reach.callId() == null) {
      return true;
    }
    Asking call = calls.get(reach.callId());
    return call != null && call.at == slot;
  }

  private <Q, A> void answer(
      int slot, Address<Q, A> address, byte[] body, BiConsumer<byte[], byte[]> answer) {
    Q question = address.question().of(body);
    if (question instanceof Call call) {
      String givenUp = givenUpEarly.remove(new Early(slot, call.id()));
      if (givenUp != null) {
        answer.accept(null, Failures.FORM.bytes(new BridgeException(ErrorCode.CANCELLED, givenUp)));
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
            failure -> answer.accept(null, Failures.FORM.bytes(BridgeException.of(failure))));
  }

  @Override
  public void told(int slot, String name, byte[] body) {
    Topic<?> topic = heard.get(name);
    if (topic != null && isOfWhoRuns(topic.reach(), slot)) {
      hear(slot, topic, body);
    }
  }

  private <T> void hear(int slot, Topic<T> topic, byte[] body) {
    T news = topic.form().of(body);
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
    return !(news instanceof Departure departure) || isOfNode(slot, departure.from());
  }

  private boolean isOfNode(int slot, Residence at) {
    return names.get(slot).equals(at.node());
  }

  /** Only the node that asked for a call can give it up; its word may come before the call. */
  private boolean isOfCaller(int slot, Cancellation cancellation) {
    Integer caller = callers.get(cancellation.callId());
    if (caller == null) {
      givenUpEarly.put(new Early(slot, cancellation.callId()), cancellation.reason());
    }
    return caller != null && caller == slot;
  }

  @Override
  public void connected(int slot, String node) {
    names.put(slot, node);
    bus.publishHere(Addresses.NODE_CONNECTED, slot);
  }
}
