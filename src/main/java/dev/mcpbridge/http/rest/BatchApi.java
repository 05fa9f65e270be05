package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.Batch;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.RequestSpan;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * POST /batch: runs several calls, some at the same time, each through the gate; returns their
 * statuses and bodies in order.
 */
public record BatchApi(CallPipeline pipeline, CallIds ids, CallAnswers answers, int maxDepth) {
  private static final int MAX_CALLS = 100;
  private static final Set<String> KEYS = Set.of("calls", "concurrency", "onError");
  private static final Set<String> CALL_KEYS = Set.of("server", "tool", "arguments");

  /** What the calls of a batch have in common. */
  private record Origin(Caller caller, Envelope envelope) {}

  public void run(RoutingContext ctx) {
    Map<String, JsonSlice> body = JsonObjects.members(Paths.arguments(ctx, maxDepth).json());
    List<JsonSlice> calls = calls(body);
    Batch batch = new Batch(terms(body));
    Origin origin = new Origin(Callers.caller(ctx), RequestSpan.envelope(ctx).inBackground());
    List<CallRequest> running = new ArrayList<>();
    List<Future<CallOutcome>> outcomes = new ArrayList<>();
    for (JsonSlice call : calls) {
      outcomes.add(batch.add(() -> start(call, origin, running)));
    }
    ctx.response()
        .closeHandler(
            closed -> {
              batch.cancel();
              pipeline.cancelAll(running, outcomes);
            });
    Future.join(outcomes).onComplete(done -> answer(ctx, outcomes));
  }

  private static Batch.Terms terms(Map<String, JsonSlice> body) {
    JsonSlice concurrency = body.get("concurrency");
    JsonSlice onError = body.get("onError");
    return Batch.Terms.of(
        concurrency == null ? null : concurrency.text(),
        onError == null ? null : String.valueOf(JsonObjects.string(onError)));
  }

  private static List<JsonSlice> calls(Map<String, JsonSlice> body) {
    JsonSlice list = body.get("calls");
    if (list == null || !list.isArray() || !KEYS.containsAll(body.keySet())) {
      throw invalid(
          "Expected {\"calls\": [{\"server\", \"tool\", \"arguments\"}, …]}, and maybe"
              + " 'concurrency' and 'onError'");
    }
    List<JsonSlice> calls = JsonObjects.elements(list);
    if (calls.isEmpty() || calls.size() > MAX_CALLS) {
      throw invalid("Expected 1 to " + MAX_CALLS + " calls, found " + calls.size());
    }
    return calls;
  }

  private Future<CallOutcome> start(JsonSlice call, Origin origin, List<CallRequest> running) {
    CallRequest request = request(call, origin);
    running.add(request);
    return pipeline.runNext(request);
  }

  private CallRequest request(JsonSlice call, Origin origin) {
    Map<String, JsonSlice> members = JsonObjects.members(call);
    String server = JsonObjects.string(members.get("server"));
    String tool = JsonObjects.string(members.get("tool"));
    if (server == null || tool == null || !CALL_KEYS.containsAll(members.keySet())) {
      throw invalid("A call must have 'server' and 'tool', and may have 'arguments'");
    }
    JsonSlice arguments = members.getOrDefault("arguments", JsonSlice.EMPTY_OBJECT);
    return new CallRequest(
        ids.next(),
        Selections.server(server),
        Target.tool(tool),
        Arguments.read(arguments.toBytes(), maxDepth),
        origin.caller(),
        false,
        origin.envelope());
  }

  private void answer(RoutingContext ctx, List<Future<CallOutcome>> outcomes) {
    JsonWriter out = new JsonWriter(4096).beginObject().name("results").beginArray();
    for (Future<CallOutcome> outcome : outcomes) {
      out.beginObject();
      if (outcome.succeeded()) {
        out.member("status", answers.status(outcome.result()))
            .member("body", CallAnswers.body(outcome.result()));
      } else {
        BridgeException failure = Problems.of(outcome.cause());
        out.member("status", failure.code().status())
            .member("body", Problems.document(ctx, failure, ids.next()));
      }
      out.endObject();
    }
    Replies.json(ctx, 200, out.endArray().endObject().toSlice(), CallAnswers.content(outcomes));
  }

  private static BridgeException invalid(String detail) {
    return new BridgeException(ErrorCode.INVALID_ARGUMENTS, detail);
  }
}
