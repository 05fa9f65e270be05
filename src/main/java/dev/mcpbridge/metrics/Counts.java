package dev.mcpbridge.metrics;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** The counters; all other metrics are read when they are requested. Thread-safe. */
public final class Counts {
  private final Map<String, ServerCounts> servers = new ConcurrentHashMap<>();
  private final Map<String, Map<String, LongAdder>> decisions = new ConcurrentHashMap<>();
  private final List<Reading> readings = new CopyOnWriteArrayList<>();
  private final LongAdder nodeRequests = new LongAdder();
  private final LongAdder lostNodeRequests = new LongAdder();

  /**
   * Counts a call that its server answered.
   *
   * @param nanos time from sending the call to its answer
   */
  public void answered(String server, long nanos) {
    of(server).answered(nanos);
  }

  /**
   * Counts a call that ended otherwise.
   *
   * @param outcome the slug of the error, or {@code needs_confirmation}
   */
  public void ended(String server, String outcome) {
    of(server).ended(outcome);
  }

  /** Counts arguments or a result that could not be checked against their schema. */
  public void unchecked(String server) {
    of(server).unchecked();
  }

  /** Counts a request to another node. */
  public void nodeRequested() {
    nodeRequests.increment();
  }

  /** Counts a request that another node did not answer. */
  public void nodeRequestLost() {
    lostNodeRequests.increment();
  }

  /**
   * Counts a decision about a call by the access rules.
   *
   * @param decision {@code allow}, {@code deny} or {@code would_deny}
   */
  public void decided(String decision, String rule) {
    Map<String, LongAdder> rules = decisions.get(decision);
    LongAdder count = rules == null ? null : rules.get(rule);
    if (count == null) {
      count =
          decisions
              .computeIfAbsent(decision, d -> new ConcurrentHashMap<>())
              .computeIfAbsent(rule, r -> new LongAdder());
    }
    count.increment();
  }

  /**
   * A number that others keep and that is read for each page.
   *
   * @param isCount whether it only grows
   */
  record Reading(String name, String help, boolean isCount, LongSupplier value) {}

  /** Adds a number that may be read on any thread. */
  public void addGauge(String name, String help, LongSupplier value) {
    readings.add(new Reading(name, help, false, value));
  }

  /** Adds a number that only grows, and may be read on any thread. */
  public void addCount(String name, String help, LongSupplier value) {
    readings.add(new Reading(name, help, true, value));
  }

  List<Reading> readings() {
    return readings;
  }

  /** Removes the counters of a removed server. */
  public void forget(String server) {
    servers.remove(server);
  }

  private ServerCounts of(String server) {
    ServerCounts counts = servers.get(server);
    return counts != null ? counts : servers.computeIfAbsent(server, s -> new ServerCounts());
  }

  Map<String, ServerCounts> servers() {
    return servers;
  }

  /** The counts of decisions by rule, by decision. */
  Map<String, Map<String, LongAdder>> decisions() {
    return decisions;
  }

  long nodeRequests() {
    return nodeRequests.sum();
  }

  long lostNodeRequests() {
    return lostNodeRequests.sum();
  }
}
