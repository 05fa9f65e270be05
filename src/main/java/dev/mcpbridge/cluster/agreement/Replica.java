package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.DoViewChange;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.Propose;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import java.util.random.RandomGenerator;

/**
 * One of the nodes that agree. The primary of a view gives commands their places; what a majority
 * keeps is committed, and applied by everybody in that order. {@link Succession} finds the next
 * primary, {@link Outside} finds the group.
 *
 * <p>Confined to one thread. Times are of a monotonic clock, in nanoseconds, and greater than 0,
 * which {@link System#nanoTime} alone does not promise.
 */
public final class Replica {

  /** What it is at the moment. */
  public enum Status {
    /** Without state, and no part of any decision. */
    OUTSIDE,
    NORMAL,
    /** It follows a primary, and does not know yet what was decided. */
    FETCHING,
    /** It has left a view, and the next one has not begun. */
    CHANGING
  }

  /** The other nodes. */
  public interface Peers {
    void send(int slot, Signed message);

    boolean isReachable(int slot);

    /** Whether a {@link Message.NewState} to that slot is still on its way from here. */
    boolean isStillTelling(int slot);
  }

  /** Bytes of committed commands that it keeps, and sends to whoever misses them. */
  public static final long MAX_LOG_BYTES = Log.MAX_BYTES;

  private static final long NEVER = -1;

  final Terms terms;
  final int self;
  final Peers peers;
  final long[] incarnations;

  final Leadership leadership;
  final Following following;
  final Succession succession;
  final Outside outside;

  private final Proposals proposals;
  private final History history;
  private long generation;
  private long view;
  private long lastNormal = NEVER;
  private Status status = Status.OUTSIDE;

  /**
   * @param incarnation higher than that of every earlier life of this slot
   */
  public Replica(
      Terms terms,
      int self,
      long incarnation,
      Peers peers,
      StateMachine machine,
      RandomGenerator random) {
    this.terms = terms;
    this.self = self;
    this.peers = peers;
    this.incarnations = new long[terms.size()];
    this.incarnations[self] = incarnation;
    this.proposals = new Proposals(terms.retryNanos());
    this.history = new History(machine, proposals, self);
    this.leadership = new Leadership(this, history);
    this.following = new Following(this, history);
    this.succession = new Succession(this, random);
    this.outside = new Outside(this);
  }

  /**
   * Wants a command to be applied; it will be, once, unless this life ends before.
   *
   * @return its number, with which it will be applied
   */
  public long propose(byte[] command, long now) {
    Entry entry = proposals.add(self, incarnations[self], command, now);
    submit(entry);
    return entry.number();
  }

  /** Wants no answer any more. */
  public void forget(long number) {
    proposals.remove(number);
  }

  /**
   * As the primary: a node that surely does not act any more is declared so, and will not act again
   * before it knows.
   *
   * @return whether that was done
   */
  public boolean declare(int slot, byte[] command, long now) {
    if (!isOver(slot, now)) {
      return false;
    }
    leadership.append(proposals.once(self, incarnations[self], command));
    leadership.revoke(slot);
    return true;
  }

  /** Whether a node has not been heard of for so long that {@link #declare} is possible. */
  public boolean isOver(int slot, long now) {
    return isPrimary() && leadership.isOver(slot, now);
  }

  /** As the primary, on the way out: lets the others find the next one at once. */
  public void resign(long now) {
    if (isPrimary() && terms.size() > 1) {
      succession.resign(now);
    }
  }

  /** Until when this node may act; in the past where it may not. */
  public long leaseUntil(long now) {
    if (status != Status.NORMAL) {
      return Long.MIN_VALUE;
    }
    return isPrimary() ? leadership.leaseUntil(now) : following.leaseUntil();
  }

  public Status status() {
    return status;
  }

  public boolean isPrimary() {
    return status == Status.NORMAL && primary(view) == self;
  }

  /** The slot of the primary; -1 where none is known. */
  public int primary() {
    return status == Status.NORMAL ? primary(view) : -1;
  }

  public long view() {
    return view;
  }

  public long generation() {
    return generation;
  }

  public long incarnation() {
    return incarnations[self];
  }

  public long committed() {
    return history.commit();
  }

  /** To be called several times in a tenth of a lease. */
  public void tick(long now, long wall) {
    history.notBefore(wall);
    switch (status) {
      case OUTSIDE -> outside.tick(now, history.wallMillis());
      case NORMAL -> {
        if (!isPrimary() || !leadership.lead(now)) {
          succession.watch(following.promisedUntil(), now);
        }
      }
      case FETCHING -> {
        following.askAgain(now);
        if (!isRecovering()) {
          succession.watch(following.waitsUntil(), now);
        } else if (now - following.waitsUntil() >= 0) {
          outside.searchAgain();
        }
      }
      case CHANGING -> {
        if (succession.isFetching()) {
          following.askAgain(now);
        }
        succession.insist(now);
      }
    }
    if (isInTouch(now)) {
      proposals.due(now).forEach(this::submit);
    }
    outside.lookAround(now, isInTouch(now));
  }

  /**
   * Takes a message in; one of another group, of a life that is over, or for one that is over, is
   * not heard.
   */
  public void receive(Signed signed, long now) {
    int from = signed.from();
    long[] known = signed.incarnations();
    if (from < 0 || from >= terms.size() || from == self || known.length != terms.size()) {
      return;
    }
    learn(known, now);
    if (known[from] < incarnations[from]) {
      return;
    }
    boolean isMember = status != Status.OUTSIDE && signed.generation() == generation;
    boolean isForThisLife = known[self] == incarnations[self];
    if (isMember && isForThisLife || !(signed.message() instanceof Message.OfGroup)) {
      signed.message().reach(new Reception(this, signed, now));
    }
  }

  private void submit(Entry entry) {
    if (isPrimary()) {
      leadership.append(entry);
    } else if (status == Status.NORMAL) {
      send(primary(view), new Propose(view, entry));
    }
  }

  /**
   * Who asks again while the answer is on its way gets no second one, which would be a snapshot
   * more each time; it asks until it knows.
   */
  void tell(int from, GetState question) {
    boolean mayBeAsked = isPrimary() || status == Status.CHANGING;
    if (mayBeAsked && question.view() == view && !peers.isStillTelling(from)) {
      send(from, history.since(question.after(), view));
    }
  }

  // --- what its parts do to it

  /** Leaves its view for good, and takes no orders from its primary any more. */
  void leaveFor(long nextView, long now) {
    keepPromise(now);
    view = nextView;
    status = Status.CHANGING;
  }

  /** Follows the primary of a view, once it knows what was decided. */
  void fetchIn(long itsView, long now) {
    keepPromise(now);
    view = itsView;
    status = Status.FETCHING;
  }

  /** Leases that it gave as the primary go on when it is not the primary any more. */
  private void keepPromise(long now) {
    following.promiseUntil(now + promise(now));
  }

  /** Whether it has joined a group and knows nothing yet: what it once knew there is lost. */
  boolean isRecovering() {
    return lastNormal == NEVER;
  }

  /** Has the log of the primary of its view. */
  void becomeNormal() {
    status = Status.NORMAL;
    lastNormal = view;
  }

  /**
   * Is the primary from now on.
   *
   * @param known what others knew to be committed
   * @param promised for how long leases of the last primary may go on
   */
  void begin(long known, long promised, long now) {
    becomeNormal();
    following.promiseUntil(now + promised);
    leadership.begin(known, promised, now);
  }

  /** Belongs to a group that begins without any state. */
  void enter(long newGeneration, long firstView, long now) {
    generation = newGeneration;
    view = firstView;
    becomeNormal();
    following.promise(now);
  }

  /**
   * Belongs to a group that has state, which it fetches. The life before may have promised
   * something a moment ago.
   */
  void join(long itsGeneration, long itsView, long now) {
    generation = itsGeneration;
    following.promise(now);
    following.fetchFrom(primary(itsView), itsView, now);
  }

  /** Was told nothing by the group that it has joined. */
  void leave() {
    generation = 0;
    view = 0;
    status = Status.OUTSIDE;
  }

  /** Its state counts for nothing any more: begins anew, as if it had been restarted. */
  void reset() {
    incarnations[self]++;
    leave();
    lastNormal = NEVER;
    following.endLease();
    proposals.clear();
    succession.calm();
    history.reset();
  }

  DoViewChange farewell(long promiseNanos) {
    return new DoViewChange(view, lastNormal, history.last(), history.commit(), promiseNanos);
  }

  boolean isBefore(DoViewChange other) {
    return lastNormal < other.lastNormal()
        || lastNormal == other.lastNormal() && history.last() < other.op();
  }

  /** Whether it leads, and nobody else can. */
  boolean isSurePrimary(long now) {
    return isPrimary() && leadership.isFollowed(now);
  }

  long lastOp() {
    return history.last();
  }

  int primary(long ofView) {
    return (int) (ofView % terms.size());
  }

  void send(int to, Message message) {
    peers.send(to, new Signed(self, generation, incarnations.clone(), message));
  }

  void broadcast(Message message) {
    for (int slot = 0; slot < terms.size(); slot++) {
      if (slot != self) {
        send(slot, message);
      }
    }
  }

  /** For how much longer somebody may act who must not once there is another primary. */
  long promise(long now) {
    long until = following.promisedUntil();
    if (isPrimary()) {
      until = Math.max(until, leadership.owesUntil(now));
    }
    return Math.max(0, until - now);
  }

  private boolean isInTouch(long now) {
    boolean isPromised = following.promisedUntil() > now;
    return status == Status.NORMAL && (isPrimary() ? leadership.isFollowed(now) : isPromised);
  }

  private void learn(long[] known, long now) {
    for (int slot = 0; slot < known.length; slot++) {
      if (known[slot] > incarnations[slot]) {
        incarnations[slot] = known[slot];
        if (slot == self) {
          outlive();
        } else {
          leadership.forget(slot, now);
        }
      }
    }
  }

  /** There was a life of this slot that seems to be later than this one, which is no more. */
  private void outlive() {
    if (status == Status.OUTSIDE) {
      incarnations[self]++;
      proposals.renew(incarnations[self]);
    } else {
      outside.giveUp();
    }
  }
}
