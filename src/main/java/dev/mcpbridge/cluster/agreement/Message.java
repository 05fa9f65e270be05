package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;

/** What replicas say to each other; the names are those of the paper where it has one. */
public sealed interface Message {

  /** What is said within a group, and means nothing to others. */
  sealed interface OfGroup extends Message {}

  void reach(Receiver receiver);

  /** Please give this command a place. */
  record Propose(long view, Entry entry) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.propose(this);
    }
  }

  /** The primary gave it one. */
  record Prepare(long view, long op, long commit, Entry entry) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.prepare(this);
    }
  }

  /** Everything up to here is kept. */
  record PrepareOk(long view, long op) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.prepareOk(this);
    }
  }

  /** A majority keeps everything up to here. */
  record Commit(long view, long commit) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.commit(this);
    }
  }

  /**
   * The primary is there.
   *
   * @param sentNanos on its clock
   * @param echoNanos the receiver's clock when it sent the Pong that is answered; 0 for none
   * @param grantNanos how long, from then on, the receiver may act
   */
  record Ping(long view, long op, long commit, long sentNanos, long echoNanos, long grantNanos)
      implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.ping(this);
    }
  }

  /**
   * So is the receiver, which will not follow another primary for as long as a lease lasts.
   *
   * @param echoNanos {@code sentNanos} of the Ping
   * @param sentNanos on the sender's clock
   */
  record Pong(long view, long op, long echoNanos, long sentNanos) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.pong(this);
    }
  }

  /**
   * Would you follow the primary of that view? Binds nobody.
   *
   * @param released whether the present primary itself asks, since it leaves
   */
  record StartViewChange(long view, boolean released) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.startViewChange(this);
    }
  }

  /**
   * The sender has left its old view for good.
   *
   * @param lastNormal the last view in which its log was the primary's
   * @param promiseNanos for how much longer leases of the old primary may be valid
   */
  record DoViewChange(long view, long lastNormal, long op, long commit, long promiseNanos)
      implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.doViewChange(this);
    }
  }

  /** The new primary has everything; fetch what you miss. */
  record StartView(long view, long op, long commit) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.startView(this);
    }
  }

  /** What comes after this? */
  record GetState(long view, long after) implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.getState(this);
    }
  }

  /**
   * This does.
   *
   * @param base the op that the snapshot stands for; {@code after} of the question where there is
   *     no snapshot
   * @param snapshot null where the entries are enough
   */
  record NewState(long view, long commit, long base, byte[] snapshot, List<Entry> entries)
      implements OfGroup {
    @Override
    public void reach(Receiver receiver) {
      receiver.newState(this);
    }
  }

  /** Who are you all? Asked by whoever has no state, or follows nobody. */
  record Hail(long nonce) implements Message {
    @Override
    public void reach(Receiver receiver) {
      receiver.hail(this);
    }
  }

  /**
   * @param kind what the sender is
   */
  record Hailed(long nonce, Kind kind, long view, long op) implements Message {
    @Override
    public void reach(Receiver receiver) {
      receiver.hailed(this);
    }

    /** What a replica is to one that looks for a group. */
    public enum Kind {
      OUTSIDE,
      NORMAL,
      PRIMARY,
      UNDECIDED
    }
  }

  /** Shall we, who have no state, begin with an empty one? */
  record Found(long generation) implements Message {
    @Override
    public void reach(Receiver receiver) {
      receiver.found(this);
    }
  }

  /**
   * Yes; the sender answers nobody else for a while.
   *
   * @param isSettled whether it has been without state for longer than any lease goes on
   */
  record FoundOk(long generation, boolean isSettled) implements Message {
    @Override
    public void reach(Receiver receiver) {
      receiver.foundOk(this);
    }
  }

  /** It has begun. */
  record Founded(long generation, long view) implements Message {
    @Override
    public void reach(Receiver receiver) {
      receiver.founded(this);
    }
  }

  /**
   * A message with who sent it.
   *
   * @param generation of the group that the sender belongs to; 0 outside
   * @param incarnations the latest lives of all slots that the sender knows, its own among them
   */
  record Signed(int from, long generation, long[] incarnations, Message message) {

    /** Whether it tells a node what all know, which may be large. */
    public boolean tellsState() {
      return message instanceof NewState;
    }

    public byte[] toBytes() {
      WireWriter out = new WireWriter();
      out.number(from).number(generation).number(incarnations.length);
      for (long incarnation : incarnations) {
        out.number(incarnation);
      }
      Messages.write(out, message);
      return out.toBytes();
    }

    public static Signed of(byte[] bytes) {
      WireReader in = new WireReader(bytes);
      int from = (int) in.number();
      long generation = in.number();
      long[] incarnations = new long[in.count()];
      for (int i = 0; i < incarnations.length; i++) {
        incarnations[i] = in.number();
      }
      return new Signed(from, generation, incarnations, Messages.read(in));
    }
  }
}
