package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.Directory;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.ResponseBody;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.Exposition;
import dev.mcpbridge.metrics.MetricsPage;
import dev.mcpbridge.metrics.RuntimeMetrics;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.pins.Pins;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * GET /metrics, in the text formats of Prometheus and OpenMetrics. Each node of a cluster reports
 * the requests that it received and the servers that it runs.
 */
public record MetricsApi(
    Directory directory,
    Pins pins,
    AccessControl access,
    Cluster cluster,
    MemoryBudget memory,
    Counts counts) {
  public void metrics(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    List<Future<ServerView>> own = directory.localServers();
    Future<MetricSnapshots> runtime = ctx.vertx().executeBlocking(RuntimeMetrics::read, false);
    Future.join(own)
        .compose(all -> runtime)
        .map(
            all ->
                page(
                    ctx,
                    all,
                    own.stream()
                        .map(Future::result)
                        .filter(server -> access.sees(caller, server.id()))
                        .toList()))
        .onSuccess(page -> answer(ctx, page))
        .onFailure(ctx::fail);
  }

  private Exposition.Page page(
      RoutingContext ctx, MetricSnapshots runtime, List<ServerView> servers) {
    return MetricsPage.write(
        ctx.request().getHeader("accept"),
        counts,
        shownTo(Callers.of(ctx)),
        memory.held(),
        servers.stream().map(server -> reading(server, Callers.of(ctx))).toList(),
        cluster.isAlone() ? null : nodes(cluster.view()),
        runtime);
  }

  private MetricsPage.Shown shownTo(Principal caller) {
    return new MetricsPage.Shown() {
      @Override
      public boolean server(String name) {
        return name.isEmpty() || access.sees(caller, new ServerId(name));
      }

      @Override
      public boolean tool(String server, String name) {
        return access.lists(caller, new ServerId(server), name)
            || name.equals(Counts.OTHER_TOOLS) && server(server);
      }
    };
  }

  private static void answer(RoutingContext ctx, Exposition.Page page) {
    ctx.response().putHeader("content-type", page.type());
    ResponseBody.send(ctx, Buffer.buffer(page.body()), Compressed.LISTS);
  }

  private MetricsPage.Server reading(ServerView server, Principal caller) {
    ServerView.Counters counters = server.counters();
    return new MetricsPage.Server(
        server.id().name(),
        server.state().apiName(),
        server.pids().size(),
        AccessControl.listed(access.policy(), caller, server).tools().size(),
        definitions(server.id()),
        counters.inFlight(),
        counters.queued(),
        counters.restarts(),
        counters.garbageLines(),
        counters.dropped());
  }

  /** The number of definitions by state, and of those that are held; empty if none are judged. */
  private Map<String, Long> definitions(ServerId server) {
    Map<String, Long> definitions = new TreeMap<>();
    pins.known(server)
        .ifPresent(
            judged -> {
              judged.counts().forEach((state, count) -> definitions.put(state.word(), count));
              definitions.put("held", judged.held());
            });
    return definitions;
  }

  private static MetricsPage.Nodes nodes(Cluster.View view) {
    return new MetricsPage.Nodes(
        view.state().equals("member"), view.members().size(), view.moves());
  }
}
