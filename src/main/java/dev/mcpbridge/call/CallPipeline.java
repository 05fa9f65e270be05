package dev.mcpbridge.call;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ApprovedOutcome;
import dev.mcpbridge.bus.Addresses.Assessment;
import dev.mcpbridge.bus.Addresses.Cancellation;
import dev.mcpbridge.bus.Addresses.ConfirmationRequest;
import dev.mcpbridge.bus.Addresses.Decision;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * The one way to an upstream, for every door: resolve, validate, assess, then run, ask, or refuse.
 * There is no other, so nothing goes around the gate.
 */
public final class CallPipeline {
  private static final Logger LOG = System.getLogger(CallPipeline.class.getName());
  private static final byte[] CONFIRMATION =
      MetaKeys.CONFIRMATION.getBytes(StandardCharsets.US_ASCII);

  /** What is said of a start that takes too long comes first. */
  private static final long GRACE_MILLIS = 250;

  private static final RateLimitedLogger FAILURES = new RateLimitedLogger(LOG);

  private final Bus bus;
  private final Directory directory;
  private final ArgumentValidator schemas;
  private final OutputSchemaCheck outputs;
  private final UpstreamCredentials credentials;
  private final MemoryBudget memory;
  private final Counts counts;

  /** The calls that no server has yet; with the reason, those that were given up. */
  private final Map<String, Optional<String>> onTheirWay = new HashMap<>();

  /** Those of them that wait for the first start of their server. */
  private final Map<String, Promise<ServerView>> waiting = new HashMap<>();

  /**
   * A call that is known to make sense.
   *
   * @param tool null for resources and prompts
   */
  private record AdmittedCall(ServerView server, Tool tool, Call call) {
    /** Of the program or API behind the server, and of the tool as that defines it. */
    String definitionDigest() {
      return CallPipeline.definitionDigest(server, tool);
    }

    /**
     * As a human has confirmed it, or will have before it runs.
     *
     * @param behind the confirmation that the bridge behind this one has of it
     */
    AdmittedCall confirmed(String behind) {
      Call with = call.withMeta(MetaKeys.CONFIRMED, JsonObjects.quoted(behind));
      return new AdmittedCall(server, tool, with);
    }
  }

  public CallPipeline(
      Bus bus,
      Directory directory,
      ArgumentValidator schemas,
      OutputSchemaCheck outputs,
      UpstreamCredentials credentials,
      MemoryBudget memory,
      Counts counts) {
    this.bus = bus;
    this.directory = directory;
    this.schemas = schemas;
    this.outputs = outputs;
    this.credentials = credentials;
    this.memory = memory;
    this.counts = counts;
    bus.subscribe(Addresses.SERVER_FORGOTTEN, server -> counts.forget(server.name()));
  }

  /** Knows a call that is not run yet: one that is given up meanwhile does not run. */
  public Future<CallOutcome> announced(CallRequest request, Supplier<Future<CallOutcome>> run) {
    onTheirWay.put(request.id(), Optional.empty());
    return run.get().onComplete(done -> onTheirWay.remove(request.id()));
  }

  /** Runs a request as far as the gate lets it. */
  public Future<CallOutcome> run(CallRequest request) {
    onTheirWay.putIfAbsent(request.id(), Optional.empty());
    long begunNanos = System.nanoTime();
    return roomFor(request)
        .map(server -> admit(request, server, begunNanos))
        .compose(
            admitted ->
                inTime(admitted.call(), validate(admitted, request))
                    .compose(valid -> assess(admitted))
                    .compose(decision -> act(admitted, decision)))
        .onComplete(done -> onTheirWay.remove(request.id()))
        .recover(failure -> recorded(request.server(), request.target(), failure));
  }

  /**
   * Runs what a human has approved and nobody can approve again.
   *
   * @param streaming whether whoever approved wants to hear of progress
   */
  public Future<CallOutcome> runApproved(Confirmation approved, boolean streaming) {
    Call call = approved.call();
    onTheirWay.put(call.id(), Optional.empty());
    return started(call.server(), call.target(), call.id())
        .map(server -> readmit(approved, server, streaming))
        .compose(admitted -> assess(admitted).compose(decision -> actApproved(admitted, decision)))
        .onComplete(done -> onTheirWay.remove(call.id()))
        .onComplete(
            done -> tellEnd(approved, Executed.YES),
            failure -> tellEnd(approved, BridgeException.of(failure).executed()))
        .recover(failure -> recorded(call.server(), call.target(), failure));
  }

  /** For who asks again for what was approved. */
  private void tellEnd(Confirmation approved, Executed executed) {
    bus.request(Addresses.APPROVED_ENDED, new ApprovedOutcome(approved.id(), executed));
  }

  /** Gives a call up, wherever it is; its outcome becomes CANCELLED. */
  public void cancel(ServerId server, String callId, String reason) {
    onTheirWay.replace(callId, Optional.of(reason));
    Promise<ServerView> start = waiting.get(callId);
    if (start != null) {
      start.tryFail(new BridgeException(ErrorCode.CANCELLED, reason));
    }
    bus.publish(Addresses.cancel(server), new Cancellation(callId, reason));
  }

  /**
   * Gives up what of several calls has not ended: whoever asked for them together has left. What
   * waits comes before what it waits for, so that it does not begin in its place.
   */
  public void giveUp(List<CallRequest> running, List<Future<CallOutcome>> outcomes) {
    if (outcomes.stream().anyMatch(outcome -> !outcome.isComplete())) {
      for (int i = running.size() - 1; i >= 0; i--) {
        cancel(running.get(i).server(), running.get(i).id(), "The client has left");
      }
    }
  }

  /** What a human has approved waits in its queue instead: nobody can approve it again. */
  private Future<ServerView> roomFor(CallRequest request) {
    return memory.isHigh()
        ? Future.failedFuture(
            new BridgeException(
                    ErrorCode.OVERLOADED,
                    "No memory is left for an answer: too many others are on their way")
                .withRetryAfter(1_000))
        : started(request.server(), request.target(), request.id());
  }

  /** The start of a server counts against the time of the calls that wait for it. */
  private Future<ServerView> started(ServerId server, Target target, String callId) {
    Future<ServerView> discovered = directory.discovered(server);
    if (discovered.isComplete()) {
      return discovered;
    }
    Promise<ServerView> start = Promise.promise();
    waiting.put(callId, start);
    discovered.onComplete(start::tryComplete, start::tryFail);
    return directory
        .find(server)
        .compose(view -> within(view.timeouts().of(target) + GRACE_MILLIS, start.future()))
        .onComplete(over -> waiting.remove(callId));
  }

  private static <T> Future<T> inTime(Call call, Future<T> step) {
    return step.isComplete()
        ? step
        : within(TimeUnit.NANOSECONDS.toMillis(call.deadlineNanos() - System.nanoTime()), step);
  }

  private static <T> Future<T> within(long millis, Future<T> step) {
    return step.timeout(Math.max(1, millis), TimeUnit.MILLISECONDS)
        .recover(
            failure ->
                Future.failedFuture(
                    failure instanceof TimeoutException
                        ? new BridgeException(
                                ErrorCode.DEADLINE_EXCEEDED,
                                "Its time was over before it could run")
                            .withExecuted(Executed.NO)
                        : failure));
  }

  /** With the credential that the caller has left here, where it sent none. */
  private Caller caller(CallRequest request) {
    Caller caller = request.caller();
    String kept =
        caller.authorization() == null ? credentials.of(caller.name(), request.server()) : null;
    return kept == null ? caller : caller.withAuthorization(kept);
  }

  private AdmittedCall admit(CallRequest request, ServerView server, long begunNanos) {
    Target target = request.target();
    Tool tool = null;
    if (target.kind() == Target.Kind.TOOL) {
      tool = server.catalogue().tools().get(target.name());
      if (tool == null) {
        throw new BridgeException(ErrorCode.TOOL_NOT_FOUND, "Unknown tool");
      }
    }
    Call call =
        new Call(
                request.id(),
                request.server(),
                target,
                request.arguments().json(),
                caller(request),
                0,
                request.streaming(),
                request.envelope())
            .withTimeout(server.timeouts().of(target), begunNanos);
    return new AdmittedCall(server, tool, call);
  }

  private static AdmittedCall readmit(Confirmation approved, ServerView server, boolean streaming) {
    Call call = approved.call();
    Tool tool = server.catalogue().tools().get(call.target().name());
    if (!definitionDigest(server, tool).equals(approved.definitionDigest())) {
      throw new BridgeException(
          ErrorCode.TOOL_CHANGED,
          "The definition of the "
              + call.target().kind().noun()
              + " or the program behind its server has changed since it was shown for confirmation");
    }
    Call again = call.withTimeout(server.timeouts().of(call.target())).withStreaming(streaming);
    return new AdmittedCall(server, tool, again);
  }

  private static String definitionDigest(ServerView server, Tool tool) {
    return server.program() + " " + (tool == null ? "" : tool.digest());
  }

  private Future<Void> validate(AdmittedCall admitted, CallRequest request) {
    return schemas.check(request, admitted.tool());
  }

  /** A gate that cannot be asked lets nothing through. */
  private Future<Decision> assess(AdmittedCall admitted) {
    boolean destructive = admitted.tool() != null && admitted.tool().destructive();
    Assessment question =
        new Assessment(admitted.call().target(), admitted.server().risk(), destructive);
    return bus.request(Addresses.ASSESS, question);
  }

  private Future<CallOutcome> act(AdmittedCall admitted, Decision decision) {
    requireWanted(admitted.call());
    return switch (decision) {
      case ALLOW -> invoke(admitted);
      case CONFIRM -> confirmLater(admitted);
      case ISOLATE -> isolate(admitted);
    };
  }

  /** A call that was given up before its server had it does not run. */
  private void requireWanted(Call call) {
    Optional<String> why = onTheirWay.remove(call.id());
    if (why != null && why.isPresent()) {
      throw new BridgeException(ErrorCode.CANCELLED, why.get());
    }
  }

  /** What has come to need a container since it was shown runs in one. */
  private Future<CallOutcome> actApproved(AdmittedCall admitted, Decision decision) {
    requireWanted(admitted.call());
    return decision == Decision.ISOLATE ? isolate(admitted) : invokeApproved(admitted);
  }

  /** What has to be confirmed at a bridge behind this one has to be confirmed here. */
  private Future<CallOutcome> invoke(AdmittedCall admitted) {
    return send(admitted, Addresses.call(admitted.call().server()))
        .compose(
            result -> {
              Optional<String> behind = askedBehind(admitted.server(), result);
              return behind.isPresent()
                  ? confirmLater(admitted.confirmed(behind.get()))
                  : Future.succeededFuture(new CallOutcome.Completed(result));
            });
  }

  /** A human who has confirmed it here has confirmed it for the bridge behind this one, too. */
  private Future<CallOutcome> invokeApproved(AdmittedCall admitted) {
    Address<Call, JsonSlice> address = Addresses.call(admitted.call().server());
    return send(admitted, address)
        .compose(
            result ->
                askedBehind(admitted.server(), result)
                    .map(behind -> send(admitted.confirmed(behind), address))
                    .orElseGet(() -> Future.succeededFuture(result)))
        .map(CallOutcome.Completed::new);
  }

  /** The confirmation that a bridge behind this one wants first. */
  private static Optional<String> askedBehind(ServerView server, JsonSlice result) {
    if (!server.identity().isBridge() || !result.mentions(CONFIRMATION)) {
      return Optional.empty();
    }
    JsonSlice meta = JsonObjects.members(result).get("_meta");
    return meta == null || !meta.isObject()
        ? Optional.empty()
        : Optional.ofNullable(
            JsonObjects.string(JsonObjects.members(meta).get(MetaKeys.CONFIRMATION)));
  }

  /** Never on the host: without a container there is no call. */
  private Future<CallOutcome> isolate(AdmittedCall admitted) {
    return admitted.server().image() != null
        ? send(admitted, Addresses.isolated(admitted.call().server()))
            .map(CallOutcome.Completed::new)
        : Future.failedFuture(
            new BridgeException(
                ErrorCode.ISOLATION_UNAVAILABLE,
                "Risk level 3 requires a container: add docker to the entry of server '"
                    + admitted.call().server()
                    + "'"));
  }

  private Future<JsonSlice> send(AdmittedCall admitted, Address<Call, JsonSlice> address) {
    long sentNanos = System.nanoTime();
    return bus.request(address, admitted.call())
        .onSuccess(
            result -> {
              counts.answered(counted(admitted.call().server()), System.nanoTime() - sentNanos);
              outputs.look(admitted.call().server(), admitted.tool(), result);
            });
  }

  private Future<CallOutcome> confirmLater(AdmittedCall admitted) {
    return bus.request(
            Addresses.CONFIRM_LATER,
            new ConfirmationRequest(admitted.call(), admitted.definitionDigest()))
        .map(
            confirmation -> {
              counts.ended(admitted.call().server().name(), "needs_confirmation");
              return new CallOutcome.NeedsConfirmation(confirmation);
            });
  }

  /** A failure is logged once, here, and gets the sentence that the original's clients know. */
  private Future<CallOutcome> recorded(ServerId server, Target target, Throwable failure) {
    count(server, BridgeException.of(failure).code());
    if (!(failure instanceof BridgeException known)) {
      LOG.log(Level.ERROR, "server=" + server + " code=internal_error", failure);
      return Future.failedFuture(BridgeException.of(failure));
    }
    FAILURES.log(
        server + " " + known.code(),
        known.code().status() >= 500,
        () ->
            "server=" + server + " code=" + known.code().slug() + " detail=" + known.getMessage());
    return Future.failedFuture(described(target, known));
  }

  /** Names that nobody has are not kept. */
  private void count(ServerId server, ErrorCode code) {
    counts.ended(counted(server), code.slug());
  }

  private String counted(ServerId server) {
    return directory.isKnown(server) ? server.name() : "";
  }

  private static BridgeException described(Target target, BridgeException failure) {
    return switch (failure.code()) {
      case SERVER_NOT_FOUND, TOOL_CHANGED, ISOLATION_UNAVAILABLE, IMAGE_NOT_FOUND, INVALID_SERVER ->
          failure;
      default ->
          target.kind() == Target.Kind.RESOURCE
              ? failure
              : failure.prefixed(
                  "Error executing " + target.kind().noun() + " " + target.name() + ": ");
    };
  }
}
