package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.Found;
import dev.mcpbridge.cluster.agreement.Message.FoundOk;
import dev.mcpbridge.cluster.agreement.Message.Founded;
import dev.mcpbridge.cluster.agreement.Message.Hail;
import dev.mcpbridge.cluster.agreement.Message.Hailed;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a replica without state finds its group, or begins one.
 *
 * <p>Where a majority belongs to a group it joins that (the paper's recovery). Where a majority has
 * no state, no group can decide anything any more, and they begin a new one with nothing in it: at
 * once if these are all, else when each of them has been without state for longer than any lease of
 * a group that may have been there goes on. A replica that follows nobody and learns that a
 * majority belongs together without it gives up what it has, and begins here.
 */
final class Outside {
  private final Replica replica;
  private final Votes<Seen> seen;
  private final Votes<Boolean> founders;
  private long hailedNanos;
  private long lonelySince;
  private long outsideSince;
  private long founding;
  private long votedFor;
  private long votedUntil;
  private long wallMillis;

  private record Seen(long generation, Hailed hailed, long atNanos) {}

  Outside(Replica replica) {
    this.replica = replica;
    this.seen = new Votes<>(replica.incarnations);
    this.founders = new Votes<>(replica.incarnations);
  }

  void tick(long now, long wall) {
    wallMillis = wall;
    outsideSince = outsideSince == 0 ? now : outsideSince;
    hail(now);
    if (votedUntil - now <= 0) {
      foundOrWait(now);
    }
  }

  /** Without a primary for some time: asks whether the others have one. */
  void lookAround(long now, boolean isInTouch) {
    if (replica.status() == Replica.Status.OUTSIDE) {
      return;
    }
    lonelySince = isInTouch ? 0 : lonelySince == 0 ? now : lonelySince;
    if (isLonely(now)) {
      hail(now);
    }
  }

  private boolean isLonely(long now) {
    return lonelySince != 0 && now - lonelySince >= 2 * replica.terms.leaseNanos();
  }

  Hailed introduction(Hail hail, long now) {
    return new Hailed(hail.nonce(), kind(now), replica.view(), replica.lastOp());
  }

  private Hailed.Kind kind(long now) {
    return switch (replica.status()) {
      case OUTSIDE -> Hailed.Kind.OUTSIDE;
      case FETCHING, CHANGING -> Hailed.Kind.UNDECIDED;
      case NORMAL -> {
        if (replica.isSurePrimary(now)) {
          yield Hailed.Kind.PRIMARY;
        }
        yield replica.isPrimary() ? Hailed.Kind.UNDECIDED : Hailed.Kind.NORMAL;
      }
    };
  }

  void hailed(int from, long generation, Hailed hailed, long now) {
    if (hailed.nonce() != replica.incarnation()) {
      return;
    }
    seen.add(from, new Seen(generation, hailed, now));
    boolean isOutside = replica.status() == Replica.Status.OUTSIDE;
    if (isOutside || isLonely(now)) {
      majority(now).ifPresent(group -> follow(group, isOutside, now));
    }
    if (isLonely(now) && (strangers(now) > spare() || isHopeless(now))) {
      giveUp();
    }
  }

  /**
   * Nobody has come for so long who knows this group, and with those who know nothing there would
   * be enough for a new one: better that than none. It is as if this replica had been restarted.
   */
  private boolean isHopeless(long now) {
    return now - lonelySince >= 10 * replica.terms.leaseNanos()
        && withoutState(now) >= replica.terms.majority();
  }

  /** Those who have left the group that this replica belongs to, and know nothing of it. */
  private long strangers(long now) {
    return recent(now).filter(s -> s.generation() != replica.generation()).count();
  }

  /** With so many less a group still decides. */
  private int spare() {
    return replica.terms.size() - replica.terms.majority();
  }

  void giveUp() {
    replica.reset();
    forget();
  }

  /** The group that was joined does not answer. */
  void searchAgain() {
    replica.leave();
    forget();
  }

  private void forget() {
    lonelySince = 0;
    founding = 0;
    votedFor = 0;
    seen.clear();
  }

  /** Somebody without state wants to begin. */
  void asked(int from, Found found, long now) {
    boolean isFree = votedUntil - now <= 0 || votedFor == found.generation();
    if (replica.status() == Replica.Status.OUTSIDE && isFree) {
      votedFor = found.generation();
      votedUntil = now + replica.terms.leaseNanos();
      replica.send(from, new FoundOk(found.generation(), isSettled(now)));
    }
  }

  void agreed(int from, FoundOk ok, long now) {
    if (replica.status() == Replica.Status.OUTSIDE && ok.generation() == founding) {
      founders.add(from, ok.isSettled());
      beginIfEnoughAgreed(now);
    }
  }

  void founded(int from, Founded founded, long now) {
    if (replica.status() == Replica.Status.OUTSIDE && founded.generation() == votedFor) {
      outsideSince = 0;
      replica.enter(founded.generation(), founded.view(), now);
    }
  }

  private void hail(long now) {
    if (now - hailedNanos >= replica.terms.pingNanos()) {
      hailedNanos = now;
      replica.broadcast(new Hail(replica.incarnation()));
    }
  }

  /** The primary of a group to which more than half of all belong, as they say themselves. */
  private Optional<Seen> majority(long now) {
    return recent(now)
        .filter(s -> s.hailed().kind() == Hailed.Kind.PRIMARY)
        .filter(primary -> members(primary, now) >= replica.terms.majority())
        .findFirst();
  }

  private long members(Seen primary, long now) {
    return recent(now)
        .filter(s -> s.generation() == primary.generation())
        .filter(s -> s.hailed().view() == primary.hailed().view())
        .filter(
            s ->
                s.hailed().kind() == Hailed.Kind.PRIMARY || s.hailed().kind() == Hailed.Kind.NORMAL)
        .count();
  }

  private Stream<Seen> recent(long now) {
    return seen.valid()
        .map(Votes.Vote::value)
        .filter(s -> now - s.atNanos() < replica.terms.leaseNanos());
  }

  private void follow(Seen primary, boolean isOutside, long now) {
    if (isOutside) {
      outsideSince = 0;
      replica.join(primary.generation(), primary.hailed().view(), now);
      lonelySince = now;
      seen.clear();
    } else {
      giveUp();
    }
  }

  private void foundOrWait(long now) {
    long without = withoutState(now);
    boolean isAll = without == replica.terms.size();
    boolean isEnough = without >= replica.terms.majority() && isSettled(now);
    if ((isAll || isEnough) && isFirst(now)) {
      found(now);
    }
  }

  /** This replica, and those that know nothing. */
  private long withoutState(long now) {
    return 1 + recent(now).filter(s -> s.hailed().kind() == Hailed.Kind.OUTSIDE).count();
  }

  private boolean isSettled(long now) {
    long patience = replica.terms.leaseNanos() + replica.terms.takeoverNanos();
    return outsideSince != 0 && now - outsideSince >= patience;
  }

  /** Of several the one with the lowest slot begins, so that they do not hinder each other. */
  private boolean isFirst(long now) {
    return seen.valid()
        .filter(v -> now - v.value().atNanos() < replica.terms.leaseNanos())
        .filter(v -> v.value().hailed().kind() == Hailed.Kind.OUTSIDE)
        .noneMatch(v -> v.from() < replica.self);
  }

  private void found(long now) {
    if (founding == 0) {
      founding = wallMillis * replica.terms.size() + replica.self;
    }
    votedFor = founding;
    votedUntil = now + replica.terms.leaseNanos() / 3;
    founders.clear();
    founders.add(replica.self, isSettled(now));
    replica.broadcast(new Found(founding));
    beginIfEnoughAgreed(now);
  }

  private void beginIfEnoughAgreed(long now) {
    long settled = founders.valid().filter(Votes.Vote::value).count();
    if (founders.size() < replica.terms.size() && settled < replica.terms.majority()) {
      return;
    }
    outsideSince = 0;
    replica.enter(founding, replica.self, now);
    replica.broadcast(new Founded(founding, replica.self));
    replica.begin(0, 0, now);
    lonelySince = 0;
    seen.clear();
  }
}
