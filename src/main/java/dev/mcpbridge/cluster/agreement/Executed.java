package dev.mcpbridge.cluster.agreement;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which commands were applied, so that one that was sent twice is applied once. */
final class Executed {
  private final TreeMap<Integer, Numbers> bySlot = new TreeMap<>();

  private static final class Numbers {
    final long incarnation;
    final TreeSet<Long> applied = new TreeSet<>();
    long below;

    Numbers(long incarnation) {
      this.incarnation = incarnation;
    }
  }

  /** Takes an entry in; false where it was there before, or comes from a life that is over. */
  boolean add(Entry entry) {
    Numbers known = bySlot.get(entry.proposer());
    if (known != null && known.incarnation > entry.incarnation()) {
      return false;
    }
    if (known == null || known.incarnation < entry.incarnation()) {
      known = new Numbers(entry.incarnation());
      bySlot.put(entry.proposer(), known);
    }
    boolean isNew = entry.number() >= known.below && known.applied.add(entry.number());
    known.below = Math.max(known.below, entry.oldestOpen());
    known.applied.headSet(known.below).clear();
    return isNew;
  }

  void clear() {
    bySlot.clear();
  }

  void write(WireWriter out) {
    out.list(
        bySlot.entrySet(),
        (w, slot) ->
            w.number(slot.getKey())
                .number(slot.getValue().incarnation)
                .number(slot.getValue().below)
                .list(slot.getValue().applied, WireWriter::number));
  }

  void read(WireReader in) {
    clear();
    in.list(
        r -> {
          int slot = (int) r.number();
          Numbers numbers = new Numbers(r.number());
          numbers.below = r.number();
          numbers.applied.addAll(r.list(WireReader::number));
          return bySlot.put(slot, numbers);
        });
  }
}
