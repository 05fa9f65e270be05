package dev.mcpbridge.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** All metrics of the bridge in the formats of Prometheus. Created for each request; stateless. */
public final class MetricsPage {
  private final Exposition exposition = new Exposition();

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

  /** What the page may show to the caller that asks for it. */
  public interface Shown {
    boolean server(String name);

    default boolean tool(String server, String name) {
      return server(server);
    }
  }

  /** The cluster as seen by this node. */
  public record Nodes(boolean isMember, int members, long moves) {}

  /**
   * @param accept the {@code Accept} header; null for any format
   * @param isShown whether calls of a server, by its name, are on the page, or those of a tool of
   *     it
   * @param heldBytes memory used by large messages in flight
   * @param nodes null without a cluster
   * @param runtime metrics of the process and its JVM
   */
  public static Exposition.Page write(
      String accept,
      Counts counts,
      Shown isShown,
      long heldBytes,
      List<Server> servers,
      Nodes nodes,
      MetricSnapshots runtime) {
    MetricsPage page = new MetricsPage();
    page.addCalls(counts, isShown);
    page.addTools(counts, isShown);
    page.addServers(servers);
    page.addEvents(counts);
    page.exposition.gauge("build_info", "1, with the version.", List.of(version(counts)));
    page.addReadings(counts);
    page.exposition.gauge("held_bytes", "Memory used by large messages in flight.", one(heldBytes));
    if (nodes != null) {
      page.addNodes(nodes, counts);
    }
    page.exposition.addAll(runtime);
    return page.exposition.page(accept);
  }

  private void addCalls(Counts counts, Shown isShown) {
    List<Exposition.Point> calls = new ArrayList<>();
    List<Exposition.Point> unchecked = new ArrayList<>();
    Map<Labels, Durations> answered = new LinkedHashMap<>();
    Map<Labels, Durations> waits = new LinkedHashMap<>();
    counts
        .servers()
        .forEach(
            (server, count) -> {
              if (!isShown.server(server)) {
                return;
              }
              Labels labels = Labels.of("server", server);
              answered.put(labels, count.calls.answered);
              waits.put(labels, count.queueWait);
              count.calls.forEachOutcome(
                  (outcome, n) ->
                      calls.add(new Exposition.Point(labels.add("outcome", outcome), n)));
              unchecked.add(new Exposition.Point(labels, count.uncheckedSum()));
            });
    exposition.counter(
        "calls", "Calls by outcome: answered, needs_confirmation, or the error code.", calls);
    exposition.histogram(
        "call_duration_seconds",
        "Time from sending a call to its answer, including the time in the queue.",
        answered);
    exposition.histogram(
        "queue_wait_seconds", "Time that calls waited, of those that waited and then ran.", waits);
    exposition.counter(
        "unchecked",
        "Arguments and results that could not be checked against their schema.",
        unchecked);
  }

  private void addTools(Counts counts, Shown isShown) {
    if (!counts.isPerTool()) {
      return;
    }
    List<Exposition.Point> calls = new ArrayList<>();
    Map<Labels, Durations> answered = new LinkedHashMap<>();
    counts
        .servers()
        .forEach(
            (server, count) ->
                count
                    .tools()
                    .forEach(
                        (tool, each) -> {
                          if (isShown.tool(server, tool)) {
                            Labels labels = Labels.of("server", server, "tool", tool);
                            answered.put(labels, each.answered);
                            each.forEachOutcome(
                                (outcome, n) ->
                                    calls.add(
                                        new Exposition.Point(labels.add("outcome", outcome), n)));
                          }
                        }));
    exposition.counter(
        "tool_calls", "Calls of a tool that were passed on to its server, by outcome.", calls);
    exposition.histogram(
        "tool_call_duration_seconds",
        "Time from sending a call of a tool to its answer, including the time in the queue.",
        answered);
  }

  private void addServers(List<Server> servers) {
    exposition.gauge(
        "server_state",
        "1 for the present state of a server.",
        servers.stream().map(MetricsPage::state).toList());
    exposition.gauge(
        "server_processes", "Processes of a server.", each(servers, Server::processes));
    exposition.gauge("server_tools", "Tools that a server offers.", each(servers, Server::tools));
    addDefinitions(servers);
    exposition.gauge("calls_in_flight", "Running calls.", each(servers, Server::inFlight));
    exposition.gauge("calls_queued", "Queued calls.", each(servers, Server::queued));
    exposition.counter("server_restarts", "Restarts of a server.", each(servers, Server::restarts));
    exposition.counter(
        "garbage_lines",
        "Lines that were not a valid message.",
        each(servers, Server::garbageLines));
    exposition.counter(
        "messages_dropped",
        "Messages dropped for exceeding a limit.",
        each(servers, Server::dropped));
  }

  /** Only with pins. */
  private void addDefinitions(List<Server> servers) {
    List<Exposition.Point> definitions = new ArrayList<>();
    for (Server server : servers) {
      server
          .definitions()
          .forEach(
              (state, count) ->
                  definitions.add(
                      new Exposition.Point(
                          Labels.of("server", server.name(), "state", state), count)));
    }
    if (!definitions.isEmpty()) {
      exposition.gauge(
          "server_definitions",
          "Definitions of a server by state: approved, changed, new, blocked, missing; and held,"
              + " those that are not offered.",
          definitions);
    }
  }

  /** Of each event that has happened or is known to be possible. */
  private void addEvents(Counts counts) {
    for (Event event : Event.values()) {
      List<Exposition.Point> points = new ArrayList<>();
      counts
          .of(event)
          .forEach(
              (values, n) ->
                  points.add(new Exposition.Point(Labels.of(event.labels(), values), n.sum())));
      if (!points.isEmpty()) {
        exposition.counter(event.metric(), event.help(), points);
      }
    }
    exposition.histogram(
        "approval_wait_seconds",
        "Time from a confirmation to its decision.",
        Map.of(Labels.EMPTY, counts.approvalWait()));
    exposition.histogram(
        "sandbox_start_seconds",
        "Time to start a container for a call at level 3.",
        Map.of(Labels.EMPTY, counts.containerStart()));
  }

  private void addReadings(Counts counts) {
    for (Counts.Reading reading : counts.readings()) {
      List<Exposition.Point> value = one(reading.value().getAsLong());
      if (reading.isCount()) {
        exposition.counter(reading.name(), reading.help(), value);
      } else {
        exposition.gauge(reading.name(), reading.help(), value);
      }
    }
  }

  private void addNodes(Nodes nodes, Counts counts) {
    exposition.gauge(
        "cluster_member", "1 while the node is a member.", one(nodes.isMember() ? 1 : 0));
    exposition.gauge("cluster_members", "Members of the cluster.", one(nodes.members()));
    exposition.counter("cluster_moves", "Changes of ownership of servers.", one(nodes.moves()));
    exposition.counter(
        "node_questions", "Requests to other nodes, including calls.", one(counts.nodeRequests()));
    exposition.counter(
        "node_questions_lost",
        "Requests that other nodes did not answer.",
        one(counts.lostNodeRequests()));
  }

  private static Exposition.Point version(Counts counts) {
    String java = System.getProperty("java.version");
    return new Exposition.Point(Labels.of("version", counts.version(), "java", java), 1);
  }

  private static Exposition.Point state(Server server) {
    return new Exposition.Point(Labels.of("server", server.name(), "state", server.state()), 1);
  }

  private static List<Exposition.Point> each(List<Server> servers, ToDoubleFunction<Server> value) {
    return servers.stream()
        .map(
            server ->
                new Exposition.Point(
                    Labels.of("server", server.name()), value.applyAsDouble(server)))
        .toList();
  }

  private static List<Exposition.Point> one(double value) {
    return List.of(new Exposition.Point(Labels.EMPTY, value));
  }
}
