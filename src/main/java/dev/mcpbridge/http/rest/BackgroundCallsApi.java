package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.BackgroundCalls;
import dev.mcpbridge.call.BackgroundCalls.BackgroundCall;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;

/** Background calls: their state, until some time after their end, and their cancellation. */
public record BackgroundCallsApi(BackgroundCalls calls, CallAnswers answers) {
  /** GET /calls/{call}. */
  public void show(RoutingContext ctx) {
    find(ctx).onSuccess(call -> show(ctx, 200, call, answers)).onFailure(ctx::fail);
  }

  /** Cancels the call of the request; its outcome becomes {@code cancelled}. */
  Future<BackgroundCall> cancelled(RoutingContext ctx) {
    return find(ctx).compose(calls::cancel);
  }

  void show(RoutingContext ctx, BackgroundCall call) {
    show(ctx, 200, call, answers);
  }

  static void show(RoutingContext ctx, int status, BackgroundCall call, CallAnswers answers) {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("call_id", call.id())
            .member("server_id", call.server().name())
            .member("method", call.request().target().kind().method())
            .member("tool_name", call.request().target().name())
            .member("since", Instant.ofEpochMilli(call.sinceMillis()).toString());
    outcome(out, call, answers);
    Replies.json(ctx, status, out.endObject());
  }

  /** Writes the status of a call, and its result or problem once it has ended. */
  static void outcome(JsonWriter out, BackgroundCall call, CallAnswers answers) {
    if (!call.outcome().isComplete()) {
      out.member("status", "running");
    } else if (call.outcome().succeeded()) {
      out.member("status", "done")
          .member("http_status", answers.status(call.outcome().result()))
          .member("result", CallAnswers.body(call.outcome().result()));
    } else {
      out.member("status", "failed")
          .member("problem", Problems.document(Problems.of(call.outcome().cause()), call.id()));
    }
  }

  private Future<BackgroundCall> find(RoutingContext ctx) {
    return calls.find(ctx.pathParam("call"), Callers.of(ctx).name());
  }
}
