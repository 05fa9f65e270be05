package dev.mcpbridge.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** All metrics of the bridge in the formats of Prometheus. Created for each request; stateless. */
public final class MetricsPage {
  private MetricsPage() {}

  /** The present metrics of a server of this node. */
  public record Server(
      String name,
      String state,
      int processes,
      int tools,
      int inFlight,
      int queued,
      int restarts,
      long garbageLines,
      long dropped) {}

  /** The cluster as seen by this node. */
  public record Nodes(boolean isMember, int members, long moves) {}

  private record Point(Labels labels, double value) {}

  /** A page and its content type. */
  public record Page(String type, byte[] body) {}

  /**
   * @param accept the {@code Accept} header; null for any format
   * @param heldBytes memory used by large messages in flight
   * @param nodes null without a cluster
   */
  public static Page write(
      String accept, Counts counts, long heldBytes, List<Server> servers, Nodes nodes) {
    List<MetricSnapshot> all = new ArrayList<>();
    all.add(
        counter(
            "calls",
            "Calls by outcome: answered, needs_confirmation, or the error code.",
            calls(counts)));
    all.add(durations(counts));
    all.add(
        counter(
            "unchecked",
            "Arguments and results that could not be checked against their schema.",
            unchecked(counts)));
    all.add(
        gauge(
            "server_state",
            "1 for the present state of a server.",
            servers.stream().map(MetricsPage::state).toList()));
    all.add(gauge("server_processes", "Processes of a server.", each(servers, Server::processes)));
    all.add(gauge("server_tools", "Tools that a server offers.", each(servers, Server::tools)));
    all.add(gauge("calls_in_flight", "Running calls.", each(servers, Server::inFlight)));
    all.add(gauge("calls_queued", "Queued calls.", each(servers, Server::queued)));
    all.add(counter("server_restarts", "Restarts of a server.", each(servers, Server::restarts)));
    all.add(
        counter(
            "garbage_lines",
            "Lines that were not a valid message.",
            each(servers, Server::garbageLines)));
    all.add(
        counter(
            "messages_dropped",
            "Messages dropped for exceeding a limit.",
            each(servers, Server::dropped)));
    all.add(gauge("held_bytes", "Memory used by large messages in flight.", one(heldBytes)));
    if (nodes != null) {
      all.add(
          gauge("cluster_member", "1 while the node is a member.", one(nodes.isMember() ? 1 : 0)));
      all.add(gauge("cluster_members", "Members of the cluster.", one(nodes.members())));
      all.add(counter("cluster_moves", "Changes of ownership of servers.", one(nodes.moves())));
      all.add(
          counter(
              "node_questions",
              "Requests to other nodes, including calls.",
              one(counts.nodeRequests())));
      all.add(
          counter(
              "node_questions_lost",
              "Requests that other nodes did not answer.",
              one(counts.lostNodeRequests())));
    }
    return page(accept, new MetricSnapshots(all));
  }

  private static Page page(String accept, MetricSnapshots all) {
    ExpositionFormats formats = ExpositionFormats.init();
    ExpositionFormatWriter writer =
        formats.getOpenMetricsTextFormatWriter().accepts(accept)
            ? formats.getOpenMetricsTextFormatWriter()
            : formats.getPrometheusTextFormatWriter();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      writer.write(out, all);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Page(writer.getContentType(), out.toByteArray());
  }

  private static List<Point> calls(Counts counts) {
    List<Point> calls = new ArrayList<>();
    counts
        .servers()
        .forEach(
            (server, count) -> {
              calls.add(ended(server, "answered", Arrays.stream(count.buckets()).sum()));
              count
                  .otherOutcomes()
                  .forEach((outcome, n) -> calls.add(ended(server, outcome, n.sum())));
            });
    return calls;
  }

  private static Point ended(String server, String outcome, long count) {
    return new Point(Labels.of("server", server, "outcome", outcome), count);
  }

  private static List<Point> unchecked(Counts counts) {
    List<Point> points = new ArrayList<>();
    counts
        .servers()
        .forEach(
            (server, count) ->
                points.add(new Point(Labels.of("server", server), count.uncheckedSum())));
    return points;
  }

  private static MetricSnapshot durations(Counts counts) {
    HistogramSnapshot.Builder durations =
        HistogramSnapshot.builder()
            .name("mcp_bridge_call_duration_seconds")
            .help("Time from sending a call to its answer, including the time in the queue.");
    double[] bounds = Arrays.copyOf(ServerCounts.BOUNDS, ServerCounts.BOUNDS.length + 1);
    bounds[bounds.length - 1] = Double.POSITIVE_INFINITY;
    counts
        .servers()
        .forEach(
            (server, count) ->
                durations.dataPoint(
                    HistogramDataPointSnapshot.builder()
                        .labels(Labels.of("server", server))
                        .classicHistogramBuckets(
                            ClassicHistogramBuckets.of(bounds, count.buckets()))
                        .sum(count.seconds())
                        .build()));
    return durations.build();
  }

  private static Point state(Server server) {
    return new Point(Labels.of("server", server.name(), "state", server.state()), 1);
  }

  private static List<Point> each(List<Server> servers, ToDoubleFunction<Server> value) {
    return servers.stream()
        .map(server -> new Point(Labels.of("server", server.name()), value.applyAsDouble(server)))
        .toList();
  }

  private static List<Point> one(double value) {
    return List.of(new Point(Labels.EMPTY, value));
  }

  private static MetricSnapshot gauge(String name, String help, List<Point> points) {
    GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name("mcp_bridge_" + name).help(help);
    points.forEach(
        point ->
            gauge.dataPoint(
                GaugeDataPointSnapshot.builder()
                    .labels(point.labels())
                    .value(point.value())
                    .build()));
    return gauge.build();
  }

  private static MetricSnapshot counter(String name, String help, List<Point> points) {
    CounterSnapshot.Builder counter =
        CounterSnapshot.builder().name("mcp_bridge_" + name).help(help);
    points.forEach(
        point ->
            counter.dataPoint(
                CounterDataPointSnapshot.builder()
                    .labels(point.labels())
                    .value(point.value())
                    .build()));
    return counter.build();
  }
}
