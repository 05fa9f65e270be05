package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.NodeCalls;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The calls that run, or have just ended, at all doors and nodes. */
public record CallsApi(EveryNode nodes, BackgroundCallsApi background) {
  private static final int MAX_SHOWN = 1_000;

  public CallsApi(Bus bus, Cluster cluster, BackgroundCallsApi background) {
    this(new EveryNode(bus, cluster), background);
  }

  private record Found(String node, NodeCalls.Entry entry) {}

  /** GET /calls: those of the caller, or all with the scope {@code audit}; the newest first. */
  public void list(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    NodeCalls.Question question = new NodeCalls.Question(caller.name(), caller.may(Scope.AUDIT));
    nodes
        .askAll(NodeCalls.OWN, NodeCalls::at, question)
        .onSuccess(answers -> Replies.json(ctx, 200, json(answers)))
        .onFailure(ctx::fail);
  }

  private static JsonWriter json(Map<String, Optional<List<NodeCalls.Entry>>> answers) {
    List<Found> found = new ArrayList<>();
    answers.forEach(
        (node, calls) ->
            calls.ifPresent(all -> all.forEach(each -> found.add(new Found(node, each)))));
    found.sort((one, other) -> Long.compare(other.entry.atMillis(), one.entry.atMillis()));
    JsonWriter out = new JsonWriter(4096).beginObject().name("calls").beginArray();
    for (Found each : found.subList(0, Math.min(MAX_SHOWN, found.size()))) {
      out.beginObject().membersOf(each.entry.json());
      if (!each.node.isEmpty()) {
        out.member("node", each.node);
      }
      out.endObject();
    }
    out.endArray().name("missing_nodes").beginArray();
    answers.forEach(
        (node, calls) -> {
          if (calls.isEmpty()) {
            out.value(node);
          }
        });
    return out.endArray().endObject();
  }

  /** DELETE /calls/{call}: cancels a call of the caller that waits for it, or a background call. */
  public void cancel(RoutingContext ctx) {
    String id = ctx.pathParam("call");
    background
        .cancelled(ctx)
        .onSuccess(ended -> background.show(ctx, ended))
        .onFailure(
            failure -> {
              if (BridgeException.of(failure).code() == ErrorCode.CALL_NOT_FOUND) {
                cancelWaiting(ctx, id, failure);
              } else {
                ctx.fail(failure);
              }
            });
  }

  private void cancelWaiting(RoutingContext ctx, String id, Throwable notFound) {
    NodeCalls.Cancellation cancellation = new NodeCalls.Cancellation(id, Callers.of(ctx).name());
    nodes
        .askAll(NodeCalls.CANCEL_OWN, NodeCalls::cancelAt, cancellation)
        .onSuccess(
            answers -> {
              if (answers.containsValue(Optional.of(true))) {
                Replies.json(
                    ctx,
                    202,
                    new JsonWriter()
                        .beginObject()
                        .member("call_id", id)
                        .member("status", "running")
                        .endObject());
              } else {
                ctx.fail(notFound);
              }
            })
        .onFailure(ctx::fail);
  }
}
