package dev.mcpbridge.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Predicate;

/**
 * A bounded queue in which callers take turns: one of each in the order in which they came, so that
 * a greedy caller waits behind its own calls and not before everybody else's.
 *
 * @param <T> what waits
 */
final class Turns<T> {
  private final int capacity;
  private final Map<String, Queue<T>> waiting = new LinkedHashMap<>();
  private int size;

  Turns(int capacity) {
    this.capacity = capacity;
  }

  /** Returns false where the queue is full and nothing was taken. */
  boolean offer(String caller, T item) {
    if (size >= capacity) {
      return false;
    }
    waiting.computeIfAbsent(caller, c -> new ArrayDeque<>()).add(item);
    size++;
    return true;
  }

  /** The next in turn, null where nobody waits. */
  T poll() {
    Iterator<Map.Entry<String, Queue<T>>> callers = waiting.entrySet().iterator();
    if (!callers.hasNext()) {
      return null;
    }
    Map.Entry<String, Queue<T>> first = callers.next();
    callers.remove();
    T item = first.getValue().poll();
    if (!first.getValue().isEmpty()) {
      waiting.put(first.getKey(), first.getValue());
    }
    size--;
    return item;
  }

  /** Takes out what the test picks, without regard to turns. */
  List<T> removeIf(Predicate<T> test) {
    List<T> removed = new ArrayList<>();
    waiting
        .values()
        .forEach(
            queue ->
                queue.removeIf(
                    item -> {
                      boolean out = test.test(item);
                      if (out) {
                        removed.add(item);
                      }
                      return out;
                    }));
    waiting.values().removeIf(Queue::isEmpty);
    size -= removed.size();
    return removed;
  }

  int size() {
    return size;
  }
}
