package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;

/**
 * What a replica knows: the entries that it keeps, how many of them are committed, and the state
 * that those have made.
 */
final class History {
  private final Log log = new Log();
  private final Executed executed = new Executed();
  private final StateMachine machine;
  private final Proposals proposals;
  private final int self;
  private long commit;
  private long wallMillis;

  History(StateMachine machine, Proposals proposals, int self) {
    this.machine = machine;
    this.proposals = proposals;
    this.self = self;
  }

  long last() {
    return log.last();
  }

  long commit() {
    return commit;
  }

  long wallMillis() {
    return wallMillis;
  }

  /** A clock that never goes back, whoever's it is. */
  void notBefore(long millis) {
    wallMillis = Math.max(wallMillis, millis);
  }

  boolean mayBeProposed(Entry entry) {
    return machine.mayBeProposed(entry);
  }

  void add(Entry entry) {
    log.add(entry);
    notBefore(entry.timeMillis());
  }

  /** Applies what is committed and here. */
  void advance(long known) {
    long to = Math.min(known, log.last());
    List<Entry> ready = to > commit ? log.after(commit) : List.of();
    for (int i = 0; commit < to; i++) {
      commit++;
      Entry entry = ready.get(i);
      proposals.applied(entry, self);
      if (executed.add(entry)) {
        machine.apply(commit, entry);
      }
    }
    log.forget(commit);
  }

  /** What somebody misses who knows everything up to {@code after}. */
  NewState since(long after, long view) {
    boolean isEnough = after >= log.base() && after <= log.last();
    long base = isEnough ? after : commit;
    return new NewState(view, commit, base, isEnough ? null : snapshot(), log.after(base));
  }

  /**
   * Takes in what it missed. What is committed here stays: it is the same there.
   *
   * @param mayShrink whether entries of another view may go
   * @return false where that does not fit what is here
   */
  boolean adopt(NewState state, boolean mayShrink) {
    long end = state.base() + state.entries().size();
    boolean isAhead = state.snapshot() == null && state.base() > log.last();
    if (isAhead || end < commit || !mayShrink && end < log.last()) {
      return false;
    }
    if (state.snapshot() != null && state.base() > commit) {
      restore(state.snapshot(), state.base());
    }
    List<Entry> entries = state.entries();
    long from = Math.max(state.base(), commit);
    int known = (int) Math.min(entries.size(), from - state.base());
    log.replaceAfter(from, entries.subList(known, entries.size()));
    entries.forEach(entry -> notBefore(entry.timeMillis()));
    return true;
  }

  void reset() {
    commit = 0;
    log.restart(0);
    executed.clear();
    machine.restore(null);
  }

  private byte[] snapshot() {
    WireWriter out = new WireWriter(1024);
    executed.write(out);
    return out.bytes(machine.snapshot()).toBytes();
  }

  private void restore(byte[] snapshot, long op) {
    WireReader in = new WireReader(snapshot);
    executed.read(in);
    machine.restore(in.bytes());
    log.restart(op);
    commit = op;
  }
}
