package dev.mcpbridge.http.rest;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.auth.Scope;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.ConfirmationJson;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;
import java.util.Set;

/** Calls that wait for a human: listed, shown, decided. */
public final class ConfirmationsApi {
  private final Bus bus;
  private final CallPipeline pipeline;
  private final ToolCallsApi calls;
  private final int maxDepth;

  public ConfirmationsApi(Bus bus, CallPipeline pipeline, ToolCallsApi calls, int maxDepth) {
    this.bus = bus;
    this.pipeline = pipeline;
    this.calls = calls;
    this.maxDepth = maxDepth;
  }

  /** GET /confirmations. */
  public void list(RoutingContext ctx) {
    bus.request(Addresses.CONFIRMATIONS, viewer(ctx))
        .onSuccess(
            pending ->
                Page.answer(
                    ctx,
                    "confirmations",
                    pending.stream().map(ConfirmationsApi::json).toList(),
                    Integer.toHexString(
                        pending.stream().map(Confirmation::id).toList().hashCode())))
        .onFailure(ctx::fail);
  }

  /** GET /confirmations/{confirmation}. */
  public void show(RoutingContext ctx) {
    String id = ctx.pathParam("confirmation");
    bus.request(Addresses.CONFIRMATIONS, viewer(ctx))
        .map(
            pending ->
                pending.stream()
                    .filter(confirmation -> confirmation.id().equals(id))
                    .findFirst()
                    .orElseThrow(() -> notFound(id)))
        .onSuccess(confirmation -> Replies.json(ctx, 200, json(confirmation)))
        .onFailure(ctx::fail);
  }

  /** POST /confirmations/{confirmation}: {@code {"confirm": true, "token": "…"}}. */
  public void decide(RoutingContext ctx) {
    HumanDecision decision = decision(ctx);
    bus.request(Addresses.DECIDE, decision)
        .onSuccess(approved -> proceed(ctx, approved))
        .onFailure(ctx::fail);
  }

  private void proceed(RoutingContext ctx, Confirmation approved) {
    if (approved == null) {
      Replies.json(
          ctx,
          200,
          new JsonWriter()
              .beginObject()
              .member("status", "rejected")
              .member("message", "Request was rejected by the user")
              .endObject());
      return;
    }
    String callId = approved.call().id();
    if (EventStream.isWanted(ctx)) {
      calls.stream(
          ctx, approved.call().server(), callId, () -> pipeline.runApproved(approved, true));
    } else {
      calls.answer(ctx, approved.call().server(), callId, pipeline.runApproved(approved, false));
    }
  }

  private HumanDecision decision(RoutingContext ctx) {
    Arguments body = Paths.arguments(ctx, maxDepth);
    Map<String, JsonSlice> members = JsonObjects.members(body.json());
    JsonSlice confirm = members.get("confirm");
    JsonSlice token = members.get("token");
    if (confirm == null || !Set.of("true", "false").contains(confirm.text())) {
      throw invalid("confirm must be true or false");
    }
    if (token != null && JsonObjects.string(token) == null) {
      throw invalid("token must be a string");
    }
    if (!Set.of("confirm", "token").containsAll(members.keySet())) {
      throw invalid("A decision has confirm and token; what was asked cannot be changed by it");
    }
    return new HumanDecision(
        ctx.pathParam("confirmation"),
        confirm.text().equals("true"),
        token == null ? null : JsonObjects.string(token),
        viewer(ctx));
  }

  private static JsonSlice json(Confirmation confirmation) {
    JsonWriter out = new JsonWriter(1024).beginObject();
    ConfirmationJson.describe(out, confirmation);
    return out.member("caller", confirmation.call().caller().name()).endObject().toSlice();
  }

  private static Viewer viewer(RoutingContext ctx) {
    Principal principal = Callers.of(ctx);
    return new Viewer(principal.name(), principal.may(Scope.APPROVE));
  }

  private static BridgeException invalid(String detail) {
    return new BridgeException(ErrorCode.INVALID_ARGUMENTS, detail);
  }

  private static BridgeException notFound(String id) {
    return new BridgeException(
        ErrorCode.CONFIRMATION_NOT_FOUND, "Confirmation '" + id + "' not found or expired");
  }
}
