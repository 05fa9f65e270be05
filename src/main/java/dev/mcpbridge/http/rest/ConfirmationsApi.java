package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ConfirmationList;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.call.ApprovalReviews;
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
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Lists, shows and decides calls that wait for a human. */
public record ConfirmationsApi(
    Bus bus,
    CallPipeline pipeline,
    ApprovalReviews reviews,
    DecidedCalls decided,
    ToolCallsApi calls,
    CallAnswers answers,
    int maxDepth) {
  private static final int MAX_REASON = 500;

  /** GET /confirmations: those that wait, or with {@code ?state=decided} the others. */
  public void list(RoutingContext ctx) {
    String state = Queries.single(ctx, "state");
    if (state != null && !state.equals("pending") && !state.equals("decided")) {
      throw invalid("'state' must be pending or decided");
    }
    boolean isPending = !"decided".equals(state);
    bus.request(Gate.CONFIRMATIONS, new ConfirmationList(Callers.viewer(ctx), isPending))
        .onSuccess(
            found -> {
              List<JsonSlice> entries = found.stream().map(each -> listed(each)).toList();
              int ids = found.stream().map(each -> each.confirmation().id()).toList().hashCode();
              new PagedList("confirmations", entries, Integer.toHexString(ids)).answer(ctx);
            })
        .onFailure(ctx::fail);
  }

  private static JsonSlice listed(ConfirmationState state) {
    JsonWriter out = new JsonWriter(1024).beginObject();
    if (state.status() == ConfirmationState.Status.PENDING) {
      pending(out, state.confirmation());
    } else {
      closed(out, state);
      out.member("status", state.status().word());
    }
    return out.endObject().toSlice();
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
        .compose(
            found ->
                found.confirmationState().status() == ConfirmationState.Status.PENDING
                        && Callers.viewer(ctx).approver()
                    ? reviews.of(found.confirmationState().confirmation()).map(r -> json(found, r))
                    : Future.succeededFuture(json(found, Optional.empty())))
        .onSuccess(found -> Replies.json(ctx, 200, found))
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
    if (body.has("reason")
        && (body.path("confirm").booleanValue()
            || !body.path("reason").isTextual()
            || body.path("reason").textValue().length() > MAX_REASON)) {
      throw invalid(
          "'reason' must be a string of at most " + MAX_REASON + " characters, for a rejection");
    }
    if (body.size() > 1 + (body.has("token") ? 1 : 0) + (body.has("reason") ? 1 : 0)) {
      throw invalid(
          "Only 'confirm', 'token' and 'reason' are allowed; the confirmed call cannot be changed");
    }
    return new HumanDecision(
        ctx.pathParam("confirmation"),
        body.path("confirm").booleanValue(),
        body.path("token").textValue(),
        Callers.viewer(ctx),
        body.path("reason").asText(""));
  }

  private static void pending(JsonWriter out, Confirmation confirmation) {
    ConfirmationJson.describe(out, confirmation);
    out.member("caller", confirmation.call().caller().name())
        .member("status", ConfirmationState.Status.PENDING.word());
  }

  private static void closed(JsonWriter out, ConfirmationState state) {
    ConfirmationJson.closed(out, state.confirmation());
    if (state.executed() != null) {
      out.member("executed", state.executed().apiName());
    }
    if (state.ruling() != null && !state.ruling().by().isEmpty()) {
      out.member(
              "decision",
              state.status() == ConfirmationState.Status.APPROVED ? "approved" : "rejected")
          .member("decided_by", state.ruling().by())
          .member("decided_at", Instant.ofEpochMilli(state.ruling().atMillis()).toString());
      if (!state.ruling().reason().isEmpty()) {
        out.member("reason", state.ruling().reason());
      }
    }
  }

  private static void review(JsonWriter out, ApprovalReviews.Review review) {
    out.member("risk_reason", review.reason().apiName());
    if (review.definition() != null) {
      out.member("definition", review.definition());
    }
    if (review.approved() != null) {
      out.member("definition_before", review.approved()).name("findings").beginArray();
      review.findings().forEach(finding -> out.value(finding.word()));
      out.endArray();
    }
    if (review.isChanged()) {
      out.member("definition_changed", true);
    }
  }

  private JsonSlice json(
      DecidedCalls.DecidedCall decidedCall, Optional<ApprovalReviews.Review> review) {
    ConfirmationState confirmationState = decidedCall.confirmationState();
    JsonWriter out = new JsonWriter(1024).beginObject();
    if (confirmationState.status() == ConfirmationState.Status.PENDING) {
      pending(out, confirmationState.confirmation());
      review.ifPresent(known -> review(out, known));
    } else {
      closed(out, confirmationState);
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
