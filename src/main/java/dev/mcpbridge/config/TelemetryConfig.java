package dev.mcpbridge.config;

import java.util.Map;

/**
 * Configuration of traces and metrics.
 *
 * @param isOn whether an endpoint is configured, here or in the environment, and the environment
 *     does not disable it
 * @param endpoint URL of the collector; null if only the environment names one
 * @param headers of each export
 * @param sample share of the requests without a trace context that are recorded, 0 to 1; 1 if the
 *     environment names a sampler
 * @param maxSampledPerSecond how many requests are recorded because their callers ask for it
 * @param isPerTool whether metrics tell the calls of each tool apart
 */
public record TelemetryConfig(
    boolean isOn,
    String endpoint,
    Map<String, Secret> headers,
    double sample,
    int maxSampledPerSecond,
    boolean isPerTool) {

  /** Everything is recorded, if the environment names an endpoint. */
  public static TelemetryConfig of(Map<String, String> environment) {
    return new TelemetryConfig(isOn(null, environment), null, Map.of(), 1, 0, false);
  }

  /** The variables are those of the OpenTelemetry specification. */
  static TelemetryConfig read(Section telemetry, Section metrics, Map<String, String> environment) {
    Section otlp = telemetry.section("otlp");
    String endpoint = otlp.text("endpoint");
    return new TelemetryConfig(
        isOn(endpoint, environment),
        endpoint,
        otlp.headers("headers"),
        environment.containsKey("OTEL_TRACES_SAMPLER") ? 1 : telemetry.number("sample"),
        telemetry.integer("maxSampledPerSecond"),
        metrics.flag("perTool"));
  }

  private static boolean isOn(String endpoint, Map<String, String> environment) {
    boolean isNamed =
        endpoint != null
            || !environment.getOrDefault("OTEL_EXPORTER_OTLP_ENDPOINT", "").isBlank()
            || !environment.getOrDefault("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").isBlank();
    return isNamed && !"true".equalsIgnoreCase(environment.get("OTEL_SDK_DISABLED"));
  }
}
