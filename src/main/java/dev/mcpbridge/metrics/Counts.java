package dev.mcpbridge.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The counters; all other metrics are read when they are requested. Thread-safe. */
public final class Counts {
  private final Map<String, ServerCounts> servers = new ConcurrentHashMap<>();
  private final Map<String, Map<String, LongAdder>> decisions = new ConcurrentHashMap<>();
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
