package dev.mcpbridge.trace;

import dev.mcpbridge.metrics.Counts;

/** Where a node reports what it does: as counts, and as spans of traces. */
public record Telemetry(Counts counts, Tracer tracer) {

  /** Without traces. */
  public Telemetry(Counts counts) {
    this(counts, Tracer.OFF);
  }
}
