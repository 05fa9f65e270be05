package dev.mcpbridge.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Metrics as Prometheus reads them: each with its name, its help and its points. */
public final class Exposition {
  private final List<MetricSnapshot> snapshots = new ArrayList<>();

  /** A value and what it is of. */
  record Point(Labels labels, double value) {}

  /** A page and its content type. */
  public record Page(String type, byte[] body) {}

  void addAll(MetricSnapshots others) {
    others.forEach(snapshots::add);
  }

  void histogram(String name, String help, Map<Labels, Durations> all) {
    double[] bounds = Arrays.copyOf(Durations.BOUNDS, Durations.BOUNDS.length + 1);
    bounds[bounds.length - 1] = Double.POSITIVE_INFINITY;
    HistogramSnapshot.Builder histogram =
        HistogramSnapshot.builder().name("mcp_bridge_" + name).help(help);
    all.forEach(
        (labels, durations) ->
            histogram.dataPoint(
                HistogramDataPointSnapshot.builder()
                    .labels(labels)
                    .classicHistogramBuckets(
                        ClassicHistogramBuckets.of(bounds, durations.buckets()))
                    .sum(durations.seconds())
                    .exemplars(exemplars(durations))
                    .build()));
    snapshots.add(histogram.build());
  }

  private static Exemplars exemplars(Durations durations) {
    return Exemplars.of(
        durations
            .examples()
            .map(
                example ->
                    Exemplar.builder()
                        .value(example.seconds())
                        .traceId(example.traceId())
                        .spanId(example.spanId())
                        .timestampMillis(example.atMillis())
                        .build())
            .toList());
  }

  void gauge(String name, String help, List<Point> points) {
    snapshots.add(
        new GaugeSnapshot(
            new MetricMetadata("mcp_bridge_" + name, help),
            points.stream()
                .map(point -> new GaugeDataPointSnapshot(point.value(), point.labels(), null))
                .toList()));
  }

  void counter(String name, String help, List<Point> points) {
    snapshots.add(
        new CounterSnapshot(
            new MetricMetadata("mcp_bridge_" + name, help),
            points.stream()
                .map(point -> new CounterDataPointSnapshot(point.value(), point.labels(), null, 0))
                .toList()));
  }

  /**
   * The page in the format that is asked for.
   *
   * @param accept the {@code Accept} header; null for any format
   */
  Page page(String accept) {
    ExpositionFormats formats = ExpositionFormats.init();
    ExpositionFormatWriter writer =
        formats.getOpenMetricsTextFormatWriter().accepts(accept)
            ? formats.getOpenMetricsTextFormatWriter()
            : formats.getPrometheusTextFormatWriter();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      writer.write(out, new MetricSnapshots(snapshots));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Page(writer.getContentType(), out.toByteArray());
  }
}
