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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** All metrics of the bridge in the formats of Prometheus. Created for each request; stateless. */
public final class MetricsPage {
  private final List<MetricSnapshot> all = new ArrayList<>();

  private MetricsPage() {}

  /**
   * The present metrics of a server of this node.
   *
   * @param definitions how many of its definitions are in each state of the pins, and {@code held}
   */
  public record Server(
      String name,
      String state,
      int processes,
      int tools,
      Map<String, Long> definitions,
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
   * @param isShown whether calls of a server, by its name, are on the page
   * @param heldBytes memory used by large messages in flight
   * @param nodes null without a cluster
   * @param runtime metrics of the process and its JVM
   */
  public static Page write(
      String accept,
      Counts counts,
      Predicate<String> isShown,
      long heldBytes,
      List<Server> servers,
      Nodes nodes,
      MetricSnapshots runtime) {
    MetricsPage page = new MetricsPage();
    page.addCalls(counts, isShown);
    page.addServers(servers);
    page.addEvents(counts);
    page.gauge("build_info", "1, with the version.", List.of(version(counts)));
    page.addReadings(counts);
    page.gauge("held_bytes", "Memory used by large messages in flight.", one(heldBytes));
    if (nodes != null) {
      page.addNodes(nodes, counts);
    }
    runtime.forEach(page.all::add);
    return page(accept, new MetricSnapshots(page.all));
  }

  private void addCalls(Counts counts, Predicate<String> isShown) {
    List<Point> calls = new ArrayList<>();
    List<Point> unchecked = new ArrayList<>();
    Map<Labels, Durations> answered = new LinkedHashMap<>();
    Map<Labels, Durations> waits = new LinkedHashMap<>();
    counts
        .servers()
        .forEach(
            (server, count) -> {
              if (!isShown.test(server)) {
                return;
              }
              Labels labels = Labels.of("server", server);
              answered.put(labels, count.answered);
              waits.put(labels, count.queueWait);
              calls.add(ended(server, "answered", Arrays.stream(count.answered.buckets()).sum()));
              count
                  .otherOutcomes()
                  .forEach((outcome, n) -> calls.add(ended(server, outcome, n.sum())));
              unchecked.add(new Point(labels, count.uncheckedSum()));
            });
    counter("calls", "Calls by outcome: answered, needs_confirmation, or the error code.", calls);
    histogram(
        "call_duration_seconds",
        "Time from sending a call to its answer, including the time in the queue.",
        answered);
    histogram(
        "queue_wait_seconds", "Time that calls waited, of those that waited and then ran.", waits);
    counter(
        "unchecked",
        "Arguments and results that could not be checked against their schema.",
        unchecked);
  }

  private void addServers(List<Server> servers) {
    gauge(
        "server_state",
        "1 for the present state of a server.",
        servers.stream().map(MetricsPage::state).toList());
    gauge("server_processes", "Processes of a server.", each(servers, Server::processes));
    gauge("server_tools", "Tools that a server offers.", each(servers, Server::tools));
    addDefinitions(servers);
    gauge("calls_in_flight", "Running calls.", each(servers, Server::inFlight));
    gauge("calls_queued", "Queued calls.", each(servers, Server::queued));
    counter("server_restarts", "Restarts of a server.", each(servers, Server::restarts));
    counter(
        "garbage_lines",
        "Lines that were not a valid message.",
        each(servers, Server::garbageLines));
    counter(
        "messages_dropped",
        "Messages dropped for exceeding a limit.",
        each(servers, Server::dropped));
  }

  /** Only with pins. */
  private void addDefinitions(List<Server> servers) {
    List<Point> definitions = new ArrayList<>();
    for (Server server : servers) {
      server
          .definitions()
          .forEach(
              (state, count) ->
                  definitions.add(
                      new Point(Labels.of("server", server.name(), "state", state), count)));
    }
    if (!definitions.isEmpty()) {
      gauge(
          "server_definitions",
          "Definitions of a server by state: approved, changed, new, blocked, missing; and held,"
              + " those that are not offered.",
          definitions);
    }
  }

  /** Of each event that has happened or is known to be possible. */
  private void addEvents(Counts counts) {
    for (Event event : Event.values()) {
      List<Point> points = new ArrayList<>();
      counts
          .of(event)
          .forEach(
              (values, n) -> points.add(new Point(Labels.of(event.labels(), values), n.sum())));
      if (!points.isEmpty()) {
        counter(event.metric(), event.help(), points);
      }
    }
    histogram(
        "approval_wait_seconds",
        "Time from a confirmation to its decision.",
        Map.of(Labels.EMPTY, counts.approvalWait()));
    histogram(
        "sandbox_start_seconds",
        "Time to start a container for a call at level 3.",
        Map.of(Labels.EMPTY, counts.containerStart()));
  }

  private void addReadings(Counts counts) {
    for (Counts.Reading reading : counts.readings()) {
      List<Point> value = one(reading.value().getAsLong());
      if (reading.isCount()) {
        counter(reading.name(), reading.help(), value);
      } else {
        gauge(reading.name(), reading.help(), value);
      }
    }
  }

  private void addNodes(Nodes nodes, Counts counts) {
    gauge("cluster_member", "1 while the node is a member.", one(nodes.isMember() ? 1 : 0));
    gauge("cluster_members", "Members of the cluster.", one(nodes.members()));
    counter("cluster_moves", "Changes of ownership of servers.", one(nodes.moves()));
    counter(
        "node_questions", "Requests to other nodes, including calls.", one(counts.nodeRequests()));
    counter(
        "node_questions_lost",
        "Requests that other nodes did not answer.",
        one(counts.lostNodeRequests()));
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

  private static Point version(Counts counts) {
    String java = System.getProperty("java.version");
    return new Point(Labels.of("version", counts.version(), "java", java), 1);
  }

  private static Point ended(String server, String outcome, long count) {
    return new Point(Labels.of("server", server, "outcome", outcome), count);
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

  private void histogram(String name, String help, Map<Labels, Durations> all) {
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
    this.all.add(histogram.build());
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

  private void gauge(String name, String help, List<Point> points) {
    all.add(
        new GaugeSnapshot(
            new MetricMetadata("mcp_bridge_" + name, help),
            points.stream()
                .map(point -> new GaugeDataPointSnapshot(point.value(), point.labels(), null))
                .toList()));
  }

  private void counter(String name, String help, List<Point> points) {
    all.add(
        new CounterSnapshot(
            new MetricMetadata("mcp_bridge_" + name, help),
            points.stream()
                .map(point -> new CounterDataPointSnapshot(point.value(), point.labels(), null, 0))
                .toList()));
  }
}
