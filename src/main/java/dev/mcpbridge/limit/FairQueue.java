package dev.mcpbridge.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A bounded queue that is fair to flows: weighted fair queueing (Demers, Keshav, Shenker 1989).
 * While several flows have items, the costs of what each gets are in proportion to the {@linkplain
 * Flow#weight weights}: next is the flow that will then have received the least for its weight. A
 * flow that comes back begins where the others are, so that a pause saves no turns up.
 *
 * <p>If the queue is full, a more urgent item displaces the newest of the least urgent: of a caller
 * with more items or, if it is urgent and its caller has less than half of the queue, of any
 * caller. Otherwise, a caller with fewer items displaces the newest item of the caller with the
 * most, so that a caller without queued items is never refused because of another. Confined to its
 * owner.
 *
 * @param <T> type of the items
 */
public final class FairQueue<T> {
  private static final int REMEMBERED = 1_000;

  private final int capacity;
  private final Map<Flow, Backlog<T>> backlogs = new LinkedHashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();

  /** What the flows have received that have no items at present. */
  private final Map<Flow, Double> received = new BoundedMap<>(REMEMBERED);

  private int size;

  /** The items of a flow. */
  private static final class Backlog<T> {
    private final Flow flow;
    private final Deque<Item<T>> items = new ArrayDeque<>();

    /** The costs of what it has received, by its weight. */
    private double received;

    private double cost;

    Backlog(Flow flow, double received) {
      this.flow = flow;
      this.received = received;
    }

    /** What it will have received with its next item. */
    double afterNext() {
      return received + items.getFirst().cost() / flow.weight();
    }
  }

  private record Item<T>(T value, double cost) {}

  public FairQueue(int capacity) {
    this.capacity = capacity;
  }

  /** Queues an item that costs as much as all others. */
  public Optional<T> offer(Flow flow, T item) {
    return offer(flow, 1, item);
  }

  /**
   * Queues an item.
   *
   * @param itemCost how much of its flow's share it uses up, such as the time that it will take
   * @return the item that is refused because the queue is full: this one, or a displaced one
   */
  public Optional<T> offer(Flow flow, double itemCost, T item) {
    Optional<T> displaced = Optional.empty();
    if (size >= capacity) {
      Backlog<T> victim = victimOf(flow);
      if (victim == null) {
        return Optional.of(item);
      }
      Item<T> last = victim.items.removeLast();
      removed(victim, 1, last.cost());
      displaced = Optional.of(last.value());
    }
    Backlog<T> backlog = backlogs.get(flow);
    if (backlog == null) {
      backlog = begin(flow);
      backlogs.put(flow, backlog);
    }
    backlog.items.add(new Item<>(item, itemCost));
    backlog.cost += itemCost;
    counts.merge(flow.caller(), 1, Integer::sum);
    size++;
    return displaced;
  }

  private Backlog<T> begin(Flow flow) {
    double before = received.getOrDefault(flow, 0.0);
    received.remove(flow);
    return new Backlog<>(flow, Math.max(before, virtualTime()));
  }

  /** Whose newest item is displaced by one of a flow; null if none is. */
  private Backlog<T> victimOf(Flow flow) {
    int own = count(flow.caller());
    Backlog<T> leastUrgent = null;
    for (Backlog<T> each : backlogs.values()) {
      boolean mayBe =
          each.flow.caller().equals(flow.caller())
              || 2 * own < capacity && (flow.isUrgent() || own < count(each.flow.caller()));
      if (mayBe && each.flow.urgency() > flow.urgency() && isBefore(leastUrgent, each)) {
        leastUrgent = each;
      }
    }
    return leastUrgent == null ? ofLargestCaller(own) : leastUrgent;
  }

  private Backlog<T> ofLargestCaller(int own) {
    String largest = null;
    for (String caller : counts.keySet()) {
      if (largest == null || count(caller) > count(largest)) {
        largest = caller;
      }
    }
    Backlog<T> victim = null;
    if (largest != null && count(largest) > own + 1) {
      for (Backlog<T> each : backlogs.values()) {
        if (each.flow.caller().equals(largest) && isBefore(victim, each)) {
          victim = each;
        }
      }
    }
    return victim;
  }

  /** Whether another flow loses an item before the one found so far. */
  private static <T> boolean isBefore(Backlog<T> found, Backlog<T> other) {
    return found == null
        || other.flow.urgency() > found.flow.urgency()
        || other.flow.urgency() == found.flow.urgency() && other.items.size() > found.items.size();
  }

  /** The next item; null if the queue is empty. */
  public T poll() {
    return poll(flow -> true);
  }

  /** The next item of some flows, or null. */
  public T poll(Predicate<Flow> flows) {
    Backlog<T> next = null;
    for (Backlog<T> each : backlogs.values()) {
      boolean isBefore = next == null || each.afterNext() < next.afterNext();
      if (isBefore && flows.test(each.flow)) {
        next = each;
      }
    }
    return next == null ? null : poll(next);
  }

  private T poll(Backlog<T> next) {
    next.received = next.afterNext();
    Item<T> item = next.items.removeFirst();
    removed(next, 1, item.cost());
    return item.value();
  }

  /**
   * What the flows would have received by their weights if all were served at once: what they have
   * received too early is what the others would have had of their items.
   */
  private double virtualTime() {
    double cost = backlogs.values().stream().mapToDouble(each -> each.cost).sum();
    double time = 0;
    while (true) {
      double weights = 0;
      double ends = 0;
      for (Backlog<T> each : backlogs.values()) {
        double end = each.received + each.cost / each.flow.weight();
        weights += end > time ? each.flow.weight() : 0;
        ends += end > time ? each.flow.weight() * end : 0;
      }
      for (Map.Entry<Flow, Double> each : received.entrySet()) {
        boolean isEarly = each.getValue() > time;
        weights += isEarly ? each.getKey().weight() : 0;
        ends += isEarly ? each.getKey().weight() * each.getValue() : 0;
      }
      double next = weights == 0 ? time : (ends - cost) / weights;
      if (next <= time) {
        return time;
      }
      time = next;
    }
  }

  /** Accounts for items of a flow that have left the queue. */
  private void removed(Backlog<T> from, int items, double itemCost) {
    size -= items;
    from.cost -= itemCost;
    counts.computeIfPresent(
        from.flow.caller(), (caller, count) -> count == items ? null : count - items);
    if (from.items.isEmpty()) {
      backlogs.remove(from.flow);
      received.put(from.flow, from.received);
    }
    if (size == 0) {
      received.clear();
    }
  }

  /** Whether an item of one of these flows is queued. */
  public boolean isWaiting(Predicate<Flow> flows) {
    return size > 0 && backlogs.keySet().stream().anyMatch(flows);
  }

  /** Removes and returns the items that match, regardless of the order. */
  public List<T> removeIf(Predicate<T> test) {
    List<T> gone = new ArrayList<>();
    for (Backlog<T> each : List.copyOf(backlogs.values())) {
      double[] costs = {0};
      int before = gone.size();
      each.items.removeIf(
          item -> {
            boolean matches = test.test(item.value()) && gone.add(item.value());
            costs[0] += matches ? item.cost() : 0;
            return matches;
          });
      if (gone.size() > before) {
        removed(each, gone.size() - before, costs[0]);
      }
    }
    return gone;
  }

  public int size() {
    return size;
  }

  /** The queued items of a caller. */
  public int count(String caller) {
    return counts.getOrDefault(caller, 0);
  }
}
