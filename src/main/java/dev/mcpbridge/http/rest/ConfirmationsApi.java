package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.ConfirmationJson;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.http.reply.Preferences;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.Supplier;

/** Lists, shows and decides calls that wait for a human. */
public record ConfirmationsApi(
    Bus bus,
    CallPipeline pipeline,
    DecidedCalls decided,
    ToolCallsApi calls,
    CallAnswers answers,
    int maxDepth) {
  /** GET /confirmations. */
  public void list(RoutingContext ctx) {
    bus.request(Gate.CONFIRMATIONS, Callers.viewer(ctx))
        .onSuccess(
            pending -> {
              List<JsonSlice> entries = pending.stream().map(ConfirmationsApi::json).toList();
              int ids = pending.stream().map(Confirmation::id).toList().hashCode();
              new PagedList("confirmations", entries, Integer.toHexString(ids)).answer(ctx);
            })
        .onFailure(ctx::fail);
  }

  /**
   * GET /confirmations/{confirmation}: the call while it is pending, then the outcome. With {@code
   * Prefer: wait=SECONDS} the response is sent when the outcome is final.
   */
  public void show(RoutingContext ctx) {
    decided
        .await(
            ctx.pathParam("confirmation"),
            Callers.viewer(ctx),
            Preferences.waitMillis(ctx),
            () -> ctx.response().closed())
        .onSuccess(decidedCall -> Replies.json(ctx, 200, json(decidedCall)))
        .onFailure(ctx::fail);
  }

  /** POST /confirmations/{confirmation}: {@code {"confirm": true, "token": "…"}}. */
  public void decide(RoutingContext ctx) {
    HumanDecision decision = decision(ctx);
    bus.request(Gate.DECIDE, decision)
        .onSuccess(approved -> proceed(ctx, approved, decision.by()))
        .onFailure(ctx::fail);
  }

  private void proceed(RoutingContext ctx, Confirmation approved, Viewer by) {
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
    Call call = approved.call();
    boolean isStream = EventStream.isWanted(ctx);
    Supplier<Future<CallOutcome>> run = () -> decided.run(approved, by, isStream);
    Runnable onDisconnect =
        DecidedCalls.isOwn(approved, by)
            ? () -> pipeline.cancel(call.id(), "The client disconnected")
            : () -> {};
    if (isStream) {
      calls.stream(ctx, call.id(), run, onDisconnect);
    } else {
      calls.answer(ctx, call.id(), run.get(), onDisconnect);
    }
  }

  private HumanDecision decision(RoutingContext ctx) {
    JsonNode body = Paths.arguments(ctx, maxDepth).tree();
    if (!body.path("confirm").isBoolean()) {
      throw invalid("'confirm' must be true or false");
    }
    if (body.has("token") && !body.path("token").isTextual()) {
      throw invalid("'token' must be a string");
    }
    if (body.size() > (body.has("token") ? 2 : 1)) {
      throw invalid("Only 'confirm' and 'token' are allowed; the confirmed call cannot be changed");
    }
    return new HumanDecision(
        ctx.pathParam("confirmation"),
        body.path("confirm").booleanValue(),
        body.path("token").textValue(),
        Callers.viewer(ctx));
  }

  private static JsonSlice json(Confirmation confirmation) {
    JsonWriter out = new JsonWriter(1024).beginObject();
    pending(out, confirmation);
    return out.endObject().toSlice();
  }

  private static void pending(JsonWriter out, Confirmation confirmation) {
    ConfirmationJson.describe(out, confirmation);
    out.member("caller", confirmation.call().caller().name())
        .member("status", ConfirmationState.Status.PENDING.word());
  }

  private JsonSlice json(DecidedCalls.DecidedCall decidedCall) {
    ConfirmationState confirmationState = decidedCall.confirmationState();
    JsonWriter out = new JsonWriter(1024).beginObject();
    if (confirmationState.status() == ConfirmationState.Status.PENDING) {
      pending(out, confirmationState.confirmation());
    } else {
      ConfirmationJson.closed(out, confirmationState.confirmation());
      if (confirmationState.executed() != null) {
        out.member("executed", confirmationState.executed().apiName());
      }
      decidedCall
          .call()
          .ifPresentOrElse(
              call -> BackgroundCallsApi.outcome(out, call, answers),
              () -> out.member("status", confirmationState.status().word()));
    }
    return out.endObject().toSlice();
  }

  private static BridgeException invalid(String detail) {
    return new BridgeException(ErrorCode.INVALID_ARGUMENTS, detail);
  }
}
