package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.Commit;
import dev.mcpbridge.cluster.agreement.Message.GetState;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Ping;
import dev.mcpbridge.cluster.agreement.Message.Pong;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.PrepareOk;
import dev.mcpbridge.cluster.agreement.Message.StartView;
import dev.mcpbridge.cluster.agreement.Replica.Status;

/**
 * What a replica does while another one is the primary: keeps what that gives a place, fetches what
 * it misses, and promises to follow nobody else for as long as a lease lasts.
 */
final class Following {
  private final Replica replica;
  private final History history;
  private final Terms terms;
  private int source;
  private long askedNanos;
  private long promisedUntil;
  private long leaseUntil;
  private long since;

  Following(Replica replica, History history) {
    this.replica = replica;
    this.history = history;
    this.terms = replica.terms;
  }

  void prepare(int from, Prepare prepare, long now) {
    if (!follows(from, prepare.view(), now)) {
      return;
    }
    if (prepare.op() == history.last() + 1) {
      history.add(prepare.entry());
    } else if (prepare.op() > history.last()) {
      ask(from, history.last(), now);
    }
    replica.send(from, new PrepareOk(replica.view(), history.last()));
    history.advance(prepare.commit());
  }

  void commit(int from, Commit commit, long now) {
    if (follows(from, commit.view(), now)) {
      history.advance(commit.commit());
    }
  }

  void startView(int from, StartView start, long now) {
    follows(from, start.view(), now);
  }

  void ping(int from, Ping ping, long now) {
    if (follows(from, ping.view(), now)) {
      promise(now);
      replica.succession.calm();
      history.advance(ping.commit());
      if (ping.op() > history.last()) {
        ask(from, history.last(), now);
      }
      if (ping.grantNanos() > 0 && history.commit() >= ping.commit()) {
        leaseUntil = Math.max(leaseUntil, ping.echoNanos() + ping.grantNanos());
      }
      answer(from, ping, history.last(), now);
    } else if (replica.status() == Status.FETCHING && ping.view() == replica.view()) {
      promise(now);
      answer(from, ping, history.commit(), now);
    }
  }

  private void answer(int from, Ping ping, long op, long now) {
    replica.send(from, new Pong(replica.view(), op, ping.sentNanos(), now));
  }

  /** Follows nobody else for as long as a lease lasts. */
  void promise(long now) {
    promiseUntil(now + terms.leaseNanos());
  }

  void promiseUntil(long end) {
    promisedUntil = Math.max(promisedUntil, end);
  }

  /**
   * Whether a message is of the primary whom this replica follows; one of a later view is followed
   * from now on, once it was asked for what it knows.
   */
  private boolean follows(int from, long inView, long now) {
    if (inView < replica.view() || replica.primary(inView) != from) {
      return false;
    }
    if (inView > replica.view() || replica.status() == Status.CHANGING) {
      fetchFrom(from, inView, now);
      return false;
    }
    return replica.status() == Status.NORMAL;
  }

  /** Follows a primary, and learns from it what was decided; keeps its own log until then. */
  void fetchFrom(int primary, long inView, long now) {
    replica.fetchIn(inView, now);
    since = now;
    leaseUntil = Long.MIN_VALUE;
    replica.succession.calm();
    ask(primary, history.commit(), now);
  }

  /** Asks for what was decided after that what is known here. */
  void ask(int whom, long now) {
    ask(whom, history.commit(), now);
  }

  private void ask(int whom, long after, long now) {
    source = whom;
    askedNanos = now;
    replica.send(whom, new GetState(replica.view(), after));
  }

  void askAgain(long now) {
    if (now - askedNanos >= terms.retryNanos()) {
      ask(source, now);
    }
  }

  void adopt(int from, NewState state, long now) {
    boolean isExpected = state.view() == replica.view() && from == source && !replica.isPrimary();
    if (!isExpected || !history.adopt(state, replica.status() != Status.NORMAL)) {
      return;
    }
    if (replica.status() == Status.CHANGING) {
      replica.succession.fetched(now);
      return;
    }
    replica.becomeNormal();
    history.advance(state.commit());
    replica.send(from, new PrepareOk(replica.view(), history.last()));
  }

  void endLease() {
    leaseUntil = Long.MIN_VALUE;
  }

  long leaseUntil() {
    return leaseUntil;
  }

  long promisedUntil() {
    return promisedUntil;
  }

  /** Until when it waits for the primary from which it fetches. */
  long waitsUntil() {
    return Math.max(promisedUntil, since + terms.leaseNanos());
  }
}
