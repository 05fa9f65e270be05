package dev.mcpbridge.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A bounded queue that is fair to callers: round-robin, one item of each caller in order of
 * arrival. If it is full, a caller with fewer items displaces the newest item of the caller with
 * the most, so that a caller without queued items is never refused because of another. Confined to
 * its owner.
 *
 * @param <T> type of the items
 */
public final class FairQueue<T> {
  private final int capacity;
  private final Map<String, Deque<T>> waiting = new LinkedHashMap<>();
  private int size;

  public FairQueue(int capacity) {
    this.capacity = capacity;
  }

  /**
   * Queues an item.
   *
   * @return the item that is refused because the queue is full: this one, or the displaced one of
   *     another caller
   */
  public Optional<T> offer(String caller, T item) {
    Optional<T> displaced = size < capacity ? Optional.empty() : displaceFor(caller);
    if (size >= capacity) {
      return Optional.of(item);
    }
    waiting.computeIfAbsent(caller, c -> new ArrayDeque<>()).add(item);
    size++;
    return displaced;
  }

  private Optional<T> displaceFor(String caller) {
    int own = count(caller);
    Map.Entry<String, Deque<T>> most = null;
    for (Map.Entry<String, Deque<T>> entry : waiting.entrySet()) {
      if (most == null || entry.getValue().size() > most.getValue().size()) {
        most = entry;
      }
    }
    if (most == null || most.getValue().size() <= own + 1) {
      return Optional.empty();
    }
    size--;
    return Optional.of(most.getValue().removeLast());
  }

  /** The next item; null if the queue is empty. */
  public T poll() {
    return poll(caller -> true);
  }

  /** The next item of an eligible caller, or null. */
  public T poll(Predicate<String> isEligible) {
    Iterator<Map.Entry<String, Deque<T>>> callers = waiting.entrySet().iterator();
    while (callers.hasNext()) {
      Map.Entry<String, Deque<T>> next = callers.next();
      if (isEligible.test(next.getKey())) {
        callers.remove();
        T item = next.getValue().poll();
        if (!next.getValue().isEmpty()) {
          waiting.put(next.getKey(), next.getValue());
        }
        size--;
        return item;
      }
    }
    return null;
  }

  /** Whether an item of one of these callers is queued. */
  public boolean isWaiting(Predicate<String> callers) {
    return size > 0 && waiting.keySet().stream().anyMatch(callers);
  }

  /** Removes and returns the items that match, regardless of the order. */
  public List<T> removeIf(Predicate<T> test) {
    List<T> removed = new ArrayList<>();
    for (Deque<T> queue : waiting.values()) {
      queue.removeIf(item -> test.test(item) && removed.add(item));
    }
    waiting.values().removeIf(Deque::isEmpty);
    size -= removed.size();
    return removed;
  }

  public int size() {
    return size;
  }

  public int count(String caller) {
    Deque<T> own = waiting.get(caller);
    return own == null ? 0 : own.size();
  }
}
