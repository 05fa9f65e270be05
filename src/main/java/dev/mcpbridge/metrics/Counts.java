package dev.mcpbridge.metrics;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** The counters; all other metrics are read when they are requested. Thread-safe. */
public final class Counts {
  /**
   * Stands for the tools of a server that has too many of them; not a name that models can call.
   */
  public static final String OTHER_TOOLS = "(other)";

  private static final int MAX_TOOLS = 200;

  private final Map<String, ServerCounts> servers = new ConcurrentHashMap<>();
  private final Map<Event, Map<List<String>, LongAdder>> events = new EnumMap<>(Event.class);
  private final Durations approvalWait = new Durations();
  private final Durations containerStart = new Durations();
  private final List<Reading> readings = new CopyOnWriteArrayList<>();
  private final LongAdder nodeRequests = new LongAdder();
  private final LongAdder lostNodeRequests = new LongAdder();

  private final String version;
  private final boolean isPerTool;

  /**
   * @param version of the bridge
   * @param isPerTool whether the calls of each tool are counted too
   */
  public Counts(String version, boolean isPerTool) {
    this.version = version;
    this.isPerTool = isPerTool;
    for (Event event : Event.values()) {
      events.put(event, new ConcurrentHashMap<>());
      event.known().forEach(values -> events.get(event).put(values, new LongAdder()));
    }
  }

  public Counts() {
    this("development", false);
  }

  String version() {
    return version;
  }

  /**
   * Counts a call that its server answered.
   *
   * @param nanos time from sending the call to its answer
   */
  public void answered(String server, long nanos) {
    of(server).calls.answered.add(nanos);
  }

  /** Names the trace of a call that was counted as answered. */
  public void traced(String server, long nanos, String traceId, String spanId) {
    of(server).calls.answered.example(nanos, traceId, spanId);
  }

  /**
   * Counts a call that ended otherwise.
   *
   * @param outcome the slug of the error, or {@code needs_confirmation}
   */
  public void ended(String server, String outcome) {
    of(server).calls.ended(outcome);
  }

  /** Whether the calls of each tool are counted too. */
  public boolean isPerTool() {
    return isPerTool;
  }

  /**
   * Counts a call of a tool that its server answered, in addition to {@link #answered}; not if the
   * server was removed meanwhile, which then has an empty name.
   */
  public void toolAnswered(String server, String tool, long nanos) {
    if (!server.isEmpty()) {
      of(server, tool).answered.add(nanos);
    }
  }

  /**
   * Counts a call of a tool that was passed on and failed, likewise, in addition to {@link #ended}.
   */
  public void toolFailed(String server, String tool, String outcome) {
    if (!server.isEmpty()) {
      of(server, tool).ended(outcome);
    }
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

  /** Counts an event with the values of its labels. */
  public void count(Event event, String... values) {
    Map<List<String>, LongAdder> counted = events.get(event);
    List<String> key = List.of(values);
    LongAdder count = counted.get(key);
    (count == null ? counted.computeIfAbsent(key, k -> new LongAdder()) : count).increment();
  }

  /** Counts a call that has waited for its turn at a server. */
  public void queued(String server, long nanos) {
    of(server).queueWait.add(nanos);
  }

  /** How long confirmations waited for their decision. */
  public Durations approvalWait() {
    return approvalWait;
  }

  /** How long containers for single calls took to start. */
  public Durations containerStart() {
    return containerStart;
  }

  /**
   * A number that others keep and that is read for each page.
   *
   * @param isCount whether it only grows
   */
  record Reading(String name, String help, boolean isCount, LongSupplier value) {}

  /** Adds a number that is read on the thread of the HTTP verticle. */
  public void addGauge(String name, String help, LongSupplier value) {
    readings.add(new Reading(name, help, false, value));
  }

  /** Adds a number that only grows, and is read on the thread of the HTTP verticle. */
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

  /** The page is written on the event loop: beyond the bound, tools are counted together. */
  private CallCounts of(String server, String tool) {
    Map<String, CallCounts> tools = of(server).tools();
    CallCounts counts = tools.get(tool);
    if (counts != null) {
      return counts;
    }
    int counted = servers.values().stream().mapToInt(each -> each.tools().size()).sum();
    return tools.computeIfAbsent(
        counted < MAX_TOOLS ? tool : OTHER_TOOLS, first -> new CallCounts());
  }

  Map<String, ServerCounts> servers() {
    return servers;
  }

  /** The counts of an event by the values of its labels. */
  Map<List<String>, LongAdder> of(Event event) {
    return events.get(event);
  }

  long nodeRequests() {
    return nodeRequests.sum();
  }

  long lostNodeRequests() {
    return lostNodeRequests.sum();
  }
}
