package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.Command.Join;
import dev.mcpbridge.cluster.Command.Leave;
import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.cluster.engine.Engine.Change;
import dev.mcpbridge.cluster.engine.Engine.Entry;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The lease of this node, those of the others, and the changes of the cluster's state. A node has
 * its lease by an entry of its own in the store, which it renews. Who sees no renewal for the
 * silence time removes that entry, and in the same transaction the node from the state; so a node
 * is never declared lost after it has renewed its lease. Confined to the event loop.
 */
final class Membership {
  static final String STATE = "state";
  static final String LEASES = "leases/";
  private static final Logger LOG = System.getLogger(Membership.class.getName());

  private final Engine engine;
  private final ClusterState state;
  private final LeaseTerms terms;
  private final LongSupplier clock;
  private final Map<String, Seen> others = new HashMap<>();
  private final Map<Command, Future<Void>> proposals = new HashMap<>();
  private final Set<String> beingDeclared = new HashSet<>();
  private Future<Void> lastProposal = Future.succeededFuture();
  private int number;
  private long incarnation;
  private boolean isHeld;
  private boolean isRenewing;
  private long sentNanos;
  private long untilNanos;
  private long steadySinceNanos;
  private long renewals;

  /** The last renewal that this node saw of another one, and when. */
  private record Seen(long version, long nanos) {}

  Membership(Engine engine, ClusterState state, LeaseTerms terms, LongSupplier clock) {
    this.engine = engine;
    this.state = state;
    this.terms = terms;
    this.clock = clock;
  }

  void identify(int ownNumber, long ownIncarnation) {
    number = ownNumber;
    incarnation = ownIncarnation;
  }

  /** Until when this node may act; in the past if it may not. */
  long leaseUntil() {
    return untilNanos;
  }

  /** Whether this node has an entry in the store that it can renew. */
  boolean isHeld() {
    return isHeld;
  }

  // --- this node

  private String leaseKey() {
    return LEASES + number;
  }

  private byte[] lease() {
    return new WireWriter().number(incarnation).number(++renewals).toBytes();
  }

  private static long incarnation(Entry lease) {
    return new WireReader(lease.value()).number();
  }

  private boolean isOwn(Entry lease) {
    return lease != null && incarnation(lease) == incarnation;
  }

  /** Whether an earlier process of this node has no lease any longer, as far as was seen. */
  boolean isFree() {
    Entry old = engine.get(leaseKey());
    if (old == null || isOwn(old)) {
      return true;
    }
    Seen seen = others.get(Integer.toString(number));
    long enough = terms.leaseNanos() + terms.patienceNanos();
    return seen != null
        && seen.version() == old.version()
        && clock.getAsLong() - seen.nanos() >= enough;
  }

  /**
   * Joins, or describes itself anew: obtains or renews a lease and becomes part of the state in one
   * transaction, so that no node is a member without a lease. An earlier process of this node must
   * have ended: this one listens at its IP address, or {@link #isFree}.
   *
   * @return whether this node has joined; if not, others were faster
   */
  Future<Boolean> join(Member self, String bridge) {
    long sent = clock.getAsLong();
    Entry old = engine.get(leaseKey());
    if (isHeld && !isOwn(old)) {
      isHeld = false;
      return Future.succeededFuture(false);
    }
    Change lease = new Change(leaseKey(), old == null ? Engine.ABSENT : old.version(), lease());
    return engine
        .commit(List.of(lease, stateChange(new Join(self, bridge))))
        .map(
            applied -> {
              if (applied == Engine.CONFLICT) {
                return false;
              }
              isHeld = true;
              renewed(sent);
              return true;
            });
  }

  private void renewed(long sent) {
    long now = clock.getAsLong();
    if (now - untilNanos > 0 || sent - sentNanos > terms.leaseNanos() / 2) {
      steadySinceNanos = now;
    }
    sentNanos = sent;
    untilNanos = Math.max(untilNanos, sent + terms.leaseNanos());
  }

  /** Renews the lease when it is time to. */
  void renew() {
    long sent = clock.getAsLong();
    if (!isHeld || isRenewing || sent - sentNanos < terms.renewalNanos()) {
      return;
    }
    Entry own = engine.get(leaseKey());
    if (!isOwn(own)) {
      isHeld = false;
      return;
    }
    isRenewing = true;
    engine
        .commit(List.of(new Change(leaseKey(), own.version(), lease())))
        .onComplete(
            applied -> {
              isRenewing = false;
              if (applied.succeeded() && applied.result() != Engine.CONFLICT) {
                renewed(sent);
              }
            });
  }

  /** Leaves: the state no longer has this node, and its lease is over. */
  Future<Void> leave() {
    Entry own = engine.get(leaseKey());
    if (!isHeld || own == null) {
      return Future.succeededFuture();
    }
    return engine
        .commit(
            List.of(
                new Change(leaseKey(), own.version(), null),
                stateChange(new Leave(number, incarnation))))
        .compose(
            applied -> {
              if (applied == Engine.CONFLICT) {
                return engine.fence().compose(current -> leave());
              }
              isHeld = false;
              untilNanos = clock.getAsLong() - 1;
              return Future.succeededFuture();
            });
  }

  // --- other nodes

  /**
   * Declares nodes lost whose leases have not been renewed for the silence time. After an outage of
   * the store the others first get the time of a lease to renew theirs.
   */
  void declareLost() {
    long now = clock.getAsLong();
    Map<String, Entry> leases = engine.children(LEASES);
    others.keySet().retainAll(leases.keySet());
    leases.forEach(
        (name, lease) -> {
          Seen seen = others.get(name);
          if (seen == null || seen.version() != lease.version()) {
            others.put(name, new Seen(lease.version(), now));
          } else if (!name.equals(Integer.toString(number))
              && isHeld
              && untilNanos - now > 0
              && now - seen.nanos() >= terms.silenceNanos()
              && now - steadySinceNanos >= terms.leaseNanos()) {
            declareLost(Integer.parseInt(name), lease);
          }
        });
  }

  private void declareLost(int lost, Entry lease) {
    if (!beingDeclared.add(LEASES + lost)) {
      return;
    }
    String name = state.member(lost).map(Member::name).orElse("number " + lost);
    engine
        .commit(
            List.of(
                new Change(LEASES + lost, lease.version(), null),
                stateChange(new Leave(lost, incarnation(lease)))))
        .onComplete(over -> beingDeclared.remove(LEASES + lost))
        .onSuccess(
            applied -> {
              if (applied != Engine.CONFLICT) {
                LOG.log(Level.WARNING, "node={0} declared lost", name);
              }
            });
  }

  // --- state

  private Change stateChange(Command command) {
    Entry now = engine.get(STATE);
    byte[] next =
        ClusterState.after(now == null ? null : now.value(), command, System.currentTimeMillis());
    return new Change(STATE, now == null ? Engine.ABSENT : now.version(), next);
  }

  /** Applies a command to the state, one after another; the same command waits only once. */
  Future<Void> propose(Command command) {
    Future<Void> waiting = proposals.get(command);
    if (waiting != null) {
      return waiting;
    }
    Promise<Void> applied = Promise.promise();
    proposals.put(command, applied.future());
    lastProposal = lastProposal.otherwiseEmpty().compose(done -> attempt(command));
    lastProposal.onComplete(
        over -> {
          proposals.remove(command);
          applied.handle(over);
        });
    return applied.future();
  }

  /** A command without effect is not stored: every change of the state wakes all nodes. */
  private Future<Void> attempt(Command command) {
    Change change = stateChange(command);
    Entry now = engine.get(STATE);
    if (now != null && Arrays.equals(now.value(), change.value())) {
      return Future.succeededFuture();
    }
    return engine
        .commit(List.of(change))
        .compose(
            applied ->
                applied == Engine.CONFLICT
                    ? engine.fence().compose(current -> attempt(command))
                    : Future.succeededFuture());
  }
}
