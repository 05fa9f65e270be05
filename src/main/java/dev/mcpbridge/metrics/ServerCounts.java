package dev.mcpbridge.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The calls of one server, and of each of its tools if these are counted. */
final class ServerCounts {
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

  Map<String, CallCounts> tools() {
    return tools;
  }
}
