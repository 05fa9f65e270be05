package dev.mcpbridge.cluster.agreement;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The commands that this node wants and that are not applied yet; they are sent until they are. */
final class Proposals {
  private final long retryNanos;
  private final TreeMap<Long, Open> open = new TreeMap<>();
  private long count;

  private record Open(Entry entry, long sentNanos) {}

  Proposals(long retryNanos) {
    this.retryNanos = retryNanos;
  }

  Entry add(int self, long incarnation, byte[] command, long now) {
    Entry entry = once(self, incarnation, command);
    open.put(entry.number(), new Open(entry, now));
    return entry;
  }

  /** One that is true only now, and so is never sent again. */
  Entry once(int self, long incarnation, byte[] command) {
    long number = ++count;
    long oldest = open.isEmpty() ? number : open.firstKey();
    return new Entry(self, incarnation, number, oldest, 0, command);
  }

  /** Those that were sent a while ago. */
  List<Entry> due(long now) {
    List<Entry> due = new ArrayList<>();
    for (Open each : open.values()) {
      if (now - each.sentNanos() >= retryNanos) {
        due.add(each.entry());
      }
    }
    due.forEach(entry -> open.put(entry.number(), new Open(entry, now)));
    return due;
  }

  void applied(Entry entry, int self) {
    Open known = entry.proposer() == self ? open.get(entry.number()) : null;
    if (known != null && known.entry().incarnation() == entry.incarnation()) {
      open.remove(entry.number());
    }
  }

  /** None of them was sent yet, and now it is another life that wants them. */
  void renew(long incarnation) {
    open.replaceAll((number, each) -> new Open(each.entry().of(incarnation), each.sentNanos()));
  }

  void remove(long number) {
    open.remove(number);
  }

  void clear() {
    open.clear();
  }
}
