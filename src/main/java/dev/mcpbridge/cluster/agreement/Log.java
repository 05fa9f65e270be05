package dev.mcpbridge.cluster.agreement;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/**
 * The entries that a replica keeps, numbered from 1. The oldest ones that are committed are dropped
 * when there are many; who needs them gets a snapshot.
 */
final class Log {
  private static final int MAX_COMMITTED = 5_000;

  /** Of the commands that are committed and kept all the same. */
  static final long MAX_BYTES = 16L << 20;

  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private long base;
  private long bytes;

  /** The number before that of the first entry which is kept. */
  long base() {
    return base;
  }

  long last() {
    return base + entries.size();
  }

  void add(Entry entry) {
    entries.addLast(entry);
    bytes += entry.command().length;
  }

  /** Those after a number, oldest first. */
  List<Entry> after(long op) {
    List<Entry> later = new ArrayList<>();
    Iterator<Entry> newest = entries.descendingIterator();
    for (long number = last(); number > op && newest.hasNext(); number--) {
      later.add(newest.next());
    }
    Collections.reverse(later);
    return later;
  }

  /** Puts others in the place of all after a number. */
  void replaceAfter(long op, List<Entry> others) {
    while (last() > op) {
      bytes -= entries.removeLast().command().length;
    }
    others.forEach(this::add);
  }

  void restart(long newBase) {
    entries.clear();
    bytes = 0;
    base = newBase;
  }

  void forget(long commit) {
    while (commit > base && (commit - base > MAX_COMMITTED || bytes > MAX_BYTES)) {
      bytes -= entries.removeFirst().command().length;
      base++;
    }
  }
}
