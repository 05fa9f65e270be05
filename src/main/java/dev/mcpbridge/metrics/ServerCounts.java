package dev.mcpbridge.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The calls of one server, and of each of its tools if these are counted. */
final class ServerCounts {
  private static final int MAX_TOOLS = 200;

  final CallCounts calls = new CallCounts();

  /** Of those calls that waited. */
  final Durations queueWait = new Durations();

  private final LongAdder unchecked = new LongAdder();
  private final Map<String, CallCounts> tools = new ConcurrentHashMap<>();

  void unchecked() {
    unchecked.increment();
  }

  long uncheckedSum() {
    return unchecked.sum();
  }

  /** The calls of a tool; those of many further tools are counted together. */
  CallCounts of(String tool) {
    CallCounts counts = tools.get(tool);
    if (counts != null) {
      return counts;
    }
    String counted = tools.size() < MAX_TOOLS ? tool : Counts.OTHER_TOOLS;
    return tools.computeIfAbsent(counted, first -> new CallCounts());
  }

  Map<String, CallCounts> tools() {
    return tools;
  }
}
