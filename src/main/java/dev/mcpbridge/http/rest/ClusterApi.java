package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;

/** The nodes of the cluster, and which of them decide. */
public final class ClusterApi {
  private final Cluster cluster;
  private final Bus bus;

  public ClusterApi(Cluster cluster, Bus bus) {
    this.cluster = cluster;
    this.bus = bus;
  }

  /** GET /cluster. */
  public void show(RoutingContext ctx) {
    JsonWriter out = new JsonWriter();
    write(out, cluster.view());
    Replies.json(ctx, 200, out);
  }

  /** PUT /cluster/voters/{node}: the member becomes one of the nodes whose majority decides. */
  public void addVoter(RoutingContext ctx) {
    setVoter(ctx, true);
  }

  /** DELETE /cluster/voters/{node}. */
  public void removeVoter(RoutingContext ctx) {
    setVoter(ctx, false);
  }

  private void setVoter(RoutingContext ctx, boolean isVoter) {
    String node = ctx.pathParam("node");
    cluster
        .setVoter(node, isVoter)
        .onComplete(
            done ->
                bus.offer(
                    Addresses.AUDIT,
                    () ->
                        Callers.auditRequest(
                                ctx,
                                "cluster.request",
                                isVoter ? "add-voter" : "remove-voter",
                                done.cause())
                            .with("member", node)))
        .onSuccess(done -> show(ctx))
        .onFailure(ctx::fail);
  }

  static void write(JsonWriter out, Cluster.View view) {
    out.beginObject()
        .member("state", view.state())
        .member("node", view.node())
        .member("primary", view.primary())
        .member("view", view.view())
        .member("moves", view.moves())
        .name("members")
        .beginArray();
    view.members()
        .forEach(
            member ->
                out.beginObject()
                    .member("name", member.name())
                    .member("address", member.address())
                    .member("url", member.url())
                    .member("version", member.version())
                    .member("voter", view.voters().contains(member.address()))
                    .member("leaving", member.isLeaving())
                    .endObject());
    out.endArray().name("voters").beginArray();
    view.voters().forEach(out::value);
    out.endArray().endObject();
  }
}
