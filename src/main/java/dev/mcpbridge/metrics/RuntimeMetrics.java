package dev.mcpbridge.metrics;

import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;

/** Metrics of the process and its JVM, under the names that Prometheus clients share. */
public final class RuntimeMetrics {
  private RuntimeMetrics() {}

  /** Loads the management beans first; blocks then for some ten milliseconds. */
  public static MetricSnapshots read() {
    return Loaded.REGISTRY.scrape();
  }

  private static final class Loaded {
    static final PrometheusRegistry REGISTRY = registry();

    private static PrometheusRegistry registry() {
      PrometheusRegistry registry = new PrometheusRegistry();
      ProcessMetrics.builder().register(registry);
      JvmMemoryMetrics.builder().register(registry);
      JvmGarbageCollectorMetrics.builder().register(registry);
      JvmThreadsMetrics.builder().register(registry);
      return registry;
    }
  }
}
