package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.BackgroundCalls;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.http.reply.CacheFields;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.IdempotencyHeader;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Preferences;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.RequestSpan;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.quota.Quotas;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Converts requests to {@link CallRequest} and outcomes to responses. A client can wait for the
 * outcome, read an event stream with progress and log messages, or run the call in the background
 * ({@code Prefer: respond-async}, RFC 7240).
 */
public record ToolCallsApi(
    Bus bus,
    CallPipeline pipeline,
    CallIds ids,
    CallStores stores,
    StreamSlots streams,
    CallAnswers answers,
    int maxDepth) {

  /** The stores of running and finished calls. */
  public record CallStores(
      IdempotencyKeys idempotency, BackgroundCalls background, DecidedCalls decided) {}

  /** POST /servers/{server}/tools/{tool}; the body is the arguments object. */
  public void callTool(RoutingContext ctx) {
    Target tool = Target.tool(ctx.pathParam("tool"));
    call(ctx, Paths.server(ctx), tool, Paths.arguments(ctx, maxDepth));
  }

  /** POST /servers/{server}/prompts/{prompt}; the body is the arguments object. */
  public void getPrompt(RoutingContext ctx) {
    Target prompt = new Target(Target.Kind.PROMPT, ctx.pathParam("prompt"));
    call(ctx, Paths.server(ctx), prompt, Paths.arguments(ctx, maxDepth));
  }

  /** GET /servers/{server}/resources/{uri}; the URI is one percent-encoded segment. */
  public void readResource(RoutingContext ctx) {
    Target resource = new Target(Target.Kind.RESOURCE, ctx.pathParam("uri"));
    call(ctx, Paths.server(ctx), resource, Arguments.NONE);
  }

  /** Runs a call as the request asks for it: waiting, as an event stream, or in the background. */
  void call(RoutingContext ctx, ServerId server, Target target, Arguments arguments) {
    Caller caller = Callers.caller(ctx);
    Envelope envelope = CacheFields.asked(ctx, RequestSpan.envelope(ctx));
    if (Preferences.isAsync(ctx)) {
      inBackground(
          ctx,
          new CallRequest(
              ids.nextUnguessable(),
              server,
              target,
              arguments,
              caller,
              false,
              envelope.inBackground()));
    } else if (EventStream.isWanted(ctx)) {
      stream(ctx, new CallRequest(ids.next(), server, target, arguments, caller, true, envelope));
    } else {
      wait(ctx, new CallRequest(ids.next(), server, target, arguments, caller, false, envelope));
    }
  }

  private void wait(RoutingContext ctx, CallRequest request) {
    Future<CallOutcome> first = once(ctx, request).get();
    Future<CallOutcome> outcome =
        Preferences.waitMillis(ctx) == 0 ? first : first.compose(end -> awaitDecision(ctx, end));
    if (pipeline.hasQuotas()) {
      outcome.onComplete(done -> pipeline.remainder(request).ifPresent(left -> tell(ctx, left)));
    }
    answer(ctx, request.id(), outcome, () -> cancel(request));
  }

  /** Tells the quota that is closest to its end (draft-ietf-httpapi-ratelimit-headers-10). */
  private static void tell(RoutingContext ctx, Quotas.Remainder left) {
    String name = '"' + left.rule().name() + '"';
    long window = left.rule().allowance().windowSeconds();
    if (window > 0 && !ctx.response().headWritten()) {
      long calls = left.rule().allowance().calls();
      ctx.response()
          .putHeader("ratelimit-policy", name + ";q=" + calls + ";w=" + window)
          .putHeader("ratelimit", name + ";r=" + left.left() + ";t=" + left.resetSeconds());
    }
  }

  private void cancel(CallRequest request) {
    pipeline.cancel(request.id(), "The client disconnected");
  }

  /**
   * Responds when the call has ended.
   *
   * @param onDisconnect run if the client disconnects before that
   */
  void answer(
      RoutingContext ctx, String callId, Future<CallOutcome> outcome, Runnable onDisconnect) {
    ctx.put("requestId", callId);
    if (!outcome.isComplete()) {
      ctx.response()
          .closeHandler(
              closed -> {
                if (!outcome.isComplete()) {
                  onDisconnect.run();
                }
              });
    }
    outcome.onComplete(done -> answers.send(ctx, done), ctx::fail);
  }

  private void stream(RoutingContext ctx, CallRequest request) {
    stream(ctx, request.id(), once(ctx, request), () -> cancel(request));
  }

  /**
   * Streams progress and log messages, then the result or problem.
   *
   * @param onDisconnect run if the client disconnects before that
   */
  void stream(
      RoutingContext ctx, String callId, Supplier<Future<CallOutcome>> run, Runnable onDisconnect) {
    EventStream stream = streams.open(ctx, Compressed.RESULTS);
    Runnable unsubscribe =
        bus.subscribe(
            Addresses.callEvents(callId), event -> stream.send(event.name(), event.data()));
    Future<CallOutcome> outcome = run.get();
    stream.onClose(
        () -> {
          unsubscribe.run();
          if (!outcome.isComplete()) {
            onDisconnect.run();
          }
        });
    outcome.onComplete(
        done -> {
          String event = done instanceof CallOutcome.Completed ? "result" : "confirmation";
          if (CallAnswers.content(done) == null) {
            stream.sendSecret(event, CallAnswers.body(done));
          } else {
            stream.send(event, CallAnswers.body(done));
          }
          stream.end();
        },
        failure -> {
          stream.sendSecret("error", Problems.document(ctx, Problems.of(failure), callId));
          stream.end();
        });
  }

  private void inBackground(RoutingContext ctx, CallRequest request) {
    stores
        .background()
        .add(request, once(ctx, request))
        .onSuccess(
            call -> {
              ctx.response().putHeader("location", MountPoint.prefix(ctx) + "/calls/" + call.id());
              ctx.response().putHeader("preference-applied", "respond-async");
              BackgroundCallsApi.show(ctx, 202, call, answers);
            })
        .onFailure(ctx::fail);
  }

  /**
   * Reads the Idempotency-Key. The returned supplier runs the request, or returns the outcome of an
   * earlier request with the same key.
   */
  private Supplier<Future<CallOutcome>> once(RoutingContext ctx, CallRequest request) {
    Optional<String> key = IdempotencyHeader.of(ctx);
    if (key.isEmpty()) {
      return () -> pipeline.run(request);
    }
    String route = ctx.request().method() + " " + MountPoint.path(ctx);
    IdempotencyKeys.IdempotencyKey idempotencyKey =
        new IdempotencyKeys.IdempotencyKey(request.caller().name(), route, key.get());
    return () ->
        pipeline.register(
            request,
            () -> stores.idempotency().once(idempotencyKey, request, () -> pipeline.run(request)));
  }

  /**
   * Waits for the decision of an operator, and for the outcome, if the client has asked for that.
   */
  private Future<CallOutcome> awaitDecision(RoutingContext ctx, CallOutcome outcome) {
    long millis = Preferences.waitMillis(ctx);
    if (millis == 0
        || !(outcome instanceof CallOutcome.NeedsConfirmation needed)
        || needed.pending().token() != null) {
      return Future.succeededFuture(outcome);
    }
    return stores
        .decided()
        .awaitOutcome(
            needed.pending().confirmation().id(),
            Callers.viewer(ctx),
            millis,
            () -> ctx.response().closed())
        .compose(decidedCall -> decidedCall.outcome(outcome));
  }
}
