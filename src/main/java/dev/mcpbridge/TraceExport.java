package dev.mcpbridge;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.trace.Telemetry;
import dev.mcpbridge.trace.Tracer;
import dev.mcpbridge.trace.otel.OpenTelemetryTracer;

/** Opens the export of traces, if one is configured. */
final class TraceExport {
  private TraceExport() {}

  /**
   * The SDK is loaded only here.
   *
   * @param node name of the node; null for a single node
   */
  static Telemetry open(BridgeConfig config, String node) {
    Counts counts = new Counts(Version.current(), config.telemetry().isPerTool());
    if (!config.telemetry().isOn()) {
      return new Telemetry(counts);
    }
    Tracer tracer =
        OpenTelemetryTracer.open(config.telemetry(), "mcp-bridge", Version.current(), node);
    counts.addCount("spans_dropped", "Spans that the collector did not take.", tracer::dropped);
    return new Telemetry(counts, tracer);
  }
}
