package dev.mcpbridge.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What is counted as it happens; everything else is read when somebody looks. For any thread. */
public final class Counts {
  private final Map<String, ServerCounts> servers = new ConcurrentHashMap<>();
  private final LongAdder questionsToNodes = new LongAdder();
  private final LongAdder questionsLost = new LongAdder();

  /**
   * A call that was answered by its server.
   *
   * @param nanos from its way to the server to its answer
   */
  public void answered(String server, long nanos) {
    of(server).answered(nanos);
  }

  /**
   * A call that ended in another way.
   *
   * @param how the slug of the failure, or {@code needs_confirmation}
   */
  public void ended(String server, String how) {
    of(server).ended(how);
  }

  /** Arguments or a result of a server were not checked against their schema. */
  public void unchecked(String server) {
    of(server).unchecked();
  }

  /** Another node was asked for something. */
  public void askedNode() {
    questionsToNodes.increment();
  }

  /** Another node was asked, and gave no answer. */
  public void lostNode() {
    questionsLost.increment();
  }

  /** A server that is gone for good is not counted any more. */
  public void forget(String server) {
    servers.remove(server);
  }

  private ServerCounts of(String server) {
    ServerCounts known = servers.get(server);
    return known != null ? known : servers.computeIfAbsent(server, s -> new ServerCounts());
  }

  Map<String, ServerCounts> servers() {
    return servers;
  }

  long questionsToNodes() {
    return questionsToNodes.sum();
  }

  long questionsLost() {
    return questionsLost.sum();
  }
}
