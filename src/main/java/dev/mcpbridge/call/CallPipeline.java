package dev.mcpbridge.call;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ApprovedOutcome;
import dev.mcpbridge.bus.Gate.Assessment;
import dev.mcpbridge.bus.Gate.ConfirmationRequest;
import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.bus.NodeCalls;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.TraceContext;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The only path to an upstream, for every door: resolve, validate, assess, then run, request a
 * confirmation, or refuse. There is no other path, so nothing bypasses the gate.
 */
public final class CallPipeline {
  private static final Logger LOG = System.getLogger(CallPipeline.class.getName());
  private static final byte[] CONFIRMATION =
      MetaKeys.CONFIRMATION.getBytes(StandardCharsets.US_ASCII);

  /** Added to a timeout so that a start error is reported before the deadline passes. */
  private static final long GRACE_MILLIS = 250;

  private static final RateLimitedLogger FAILURES = new RateLimitedLogger(LOG);

  private final Bus bus;
  private final AccessControl access;
  private final ArgumentValidator schemas;
  private final OutputSchemaCheck outputs;
  private final CallerCredentials credentials;
  private final Limits limits;
  private final Counts counts;
  private final CallReports reports;

  /** The cancellations of the calls that this node's callers wait for, by the call's id. */
  private final Map<String, CancellationToken> cancellations = new HashMap<>();

  /**
   * A call whose target exists.
   *
   * @param tool null for resources and prompts
   */
  private record AdmittedCall(ServerView server, Tool tool, Call call, Permission permission) {
    /** Identifies the program or API of the server, and the definition of the tool. */
    String definitionDigest() {
      return CallPipeline.definitionDigest(server, tool);
    }

    /** This call of its caller with a credential. */
    AdmittedCall of(Caller caller) {
      return caller == call.caller()
          ? this
          : new AdmittedCall(
              server, tool, call.withAuthorization(caller.authorization()), permission);
    }

    /** This call, which is neither answered from the cache nor kept there. */
    AdmittedCall uncached() {
      return new AdmittedCall(server, tool, call.uncached(), permission);
    }

    /**
     * This call with a human's confirmation, given already or required before it runs.
     *
     * @param remoteConfirmation id of the confirmation at the bridge that is the upstream
     */
    AdmittedCall confirmed(String remoteConfirmation) {
      Call confirmed = call.withMeta(MetaKeys.CONFIRMED, JsonObjects.quoted(remoteConfirmation));
      return new AdmittedCall(server, tool, confirmed, permission);
    }
  }

  /** What bounds calls, however they look. */
  public record Limits(MemoryBudget memory, Quotas quotas, Urgencies urgencies, Pins pins) {}

  public CallPipeline(
      Bus bus,
      AccessControl access,
      ArgumentValidator schemas,
      OutputSchemaCheck outputs,
      CallerCredentials credentials,
      Limits limits,
      Counts counts) {
    this.bus = bus;
    this.access = access;
    this.schemas = schemas;
    this.outputs = outputs;
    this.credentials = credentials;
    this.limits = limits;
    this.counts = counts;
    this.reports = new CallReports(bus);
    bus.serve(NodeCalls.at(0), asked -> Future.succeededFuture(reports.seenBy(asked)));
    bus.serve(NodeCalls.cancelAt(0), asked -> Future.succeededFuture(cancelOwn(asked)));
    bus.subscribe(Addresses.SERVER_REMOVED, server -> counts.forget(server.name()));
  }

  /** Registers a call that runs later, so that it can be cancelled before it starts. */
  public Future<CallOutcome> register(CallRequest request, Supplier<Future<CallOutcome>> run) {
    cancellations.put(request.id(), new CancellationToken());
    return run.get().onComplete(done -> cancellations.remove(request.id()));
  }

  /**
   * Runs a request that has waited for others, with the rights that its caller has now.
   *
   * @return as of {@link #run}; fails with FORBIDDEN if the caller has lost its credential
   */
  public Future<CallOutcome> runNext(CallRequest request) {
    return run(request, access::renewed);
  }

  /** Runs a request, subject to the decision of the gate. */
  public Future<CallOutcome> run(CallRequest request) {
    return run(request, principal -> principal);
  }

  private Future<CallOutcome> run(CallRequest request, UnaryOperator<Principal> rights) {
    CancellationToken cancellation = cancellationOf(request.id());
    long startNanos = System.nanoTime();
    CallReport report = reports.begin(request);
    return resolve(request, cancellation)
        .map(server -> admit(request.with(rights), cancellation, server, startNanos))
        .compose(
            admitted ->
                limits
                    .quotas()
                    .within(
                        Quotas.Place.RECEIVER,
                        admitted.call(),
                        () -> judge(admitted, request, report)))
        .onComplete(done -> cancellations.remove(request.id()))
        .recover(failure -> explained(request.caller(), request.server(), failure))
        .recover(failure -> recordFailure(report, failure))
        .onComplete(report::ended, report::failed);
  }

  /** The consents that callers are asked for. */
  public ConsentTickets consents() {
    return access.consents();
  }

  public boolean hasQuotas() {
    return !limits.quotas().isEmpty();
  }

  /** What is left of the quota of its caller that is closest to its end. */
  public Optional<Quotas.Remainder> remainder(CallRequest request) {
    return limits.quotas().closest(call(request, null));
  }

  /** Adds to a failure what its caller can do about it. */
  private Future<CallOutcome> explained(Caller caller, ServerId server, Throwable failure) {
    return credentials.explained(caller, server, failure);
  }

  private Future<CallOutcome> judge(AdmittedCall admitted, CallRequest request, CallReport report) {
    return TimeLimit.beforeCall(admitted.call().deadlineNanos(), validate(admitted, request))
        .compose(valid -> assess(admitted))
        .compose(
            decision ->
                recorded(admitted, decision, report)
                    .compose(recorded -> credentialed(admitted))
                    .compose(call -> act(call, decision)));
  }

  /** The call with the credential of its caller, which is obtained only for one that may run. */
  private Future<AdmittedCall> credentialed(AdmittedCall admitted) {
    Call call = admitted.call();
    return TimeLimit.beforeCall(call.deadlineNanos(), credentials.of(call.caller(), call.server()))
        .map(admitted::of);
  }

  private CancellationToken cancellationOf(String callId) {
    return cancellations.computeIfAbsent(callId, unregistered -> new CancellationToken());
  }

  /**
   * Runs an approved call. It cannot be approved a second time.
   *
   * @param streaming whether the approver wants progress events
   */
  public Future<CallOutcome> runApproved(Confirmation approved, boolean streaming) {
    CancellationToken cancellation = cancellationOf(approved.call().id());
    Call call = approved.call().withCancellation(cancellation).withStreaming(streaming);
    CallReport report = reports.begin(call, approved.id());
    return awaitStart(call.caller(), call.server(), call.target(), cancellation)
        .map(server -> readmit(call, approved.definitionDigest(), server))
        .compose(admitted -> judgeApproved(admitted, report))
        .onComplete(done -> cancellations.remove(call.id()))
        .onComplete(
            done -> reportEnd(approved, Executed.YES),
            failure -> reportEnd(approved, BridgeException.of(failure).executed()))
        .recover(failure -> explained(call.caller(), call.server(), failure))
        .recover(failure -> recordFailure(report, failure))
        .onComplete(report::ended, report::failed);
  }

  private Future<CallOutcome> judgeApproved(AdmittedCall admitted, CallReport report) {
    return assess(admitted)
        .compose(
            decision ->
                recorded(admitted, decision, report)
                    .compose(recorded -> actApproved(admitted, decision)));
  }

  /** Nothing runs without a record of its decision, unless the operator has decided otherwise. */
  private static Future<Void> recorded(
      AdmittedCall admitted, Decision decision, CallReport report) {
    return TimeLimit.beforeCall(
        admitted.call().deadlineNanos(),
        report.decided(decision, admitted.definitionDigest(), admitted.permission()));
  }

  /** Reports the end of an approved call, for later queries of the confirmation. */
  private void reportEnd(Confirmation approved, Executed executed) {
    bus.request(Gate.APPROVED_ENDED, new ApprovedOutcome(approved.id(), executed));
  }

  /** Reports that an approved call does not run. */
  public void abandon(Confirmation approved) {
    reportEnd(approved, Executed.NO);
  }

  /** Reports the refusal of a call that its caller is told nothing of; it does not run. */
  void refuse(CallRequest request) {
    access
        .whole(request.caller().principal(), request.server())
        .map(server -> admit(request, new CancellationToken(), server, System.nanoTime()))
        .onFailure(refusal -> reports.unlisted(request).failed(refusal));
  }

  /** Cancels a call of this node, wherever it is. It then fails with CANCELLED. */
  public void cancel(String callId, String reason) {
    CancellationToken cancellation = cancellations.get(callId);
    if (cancellation != null) {
      cancellation.cancel(reason);
    }
  }

  private boolean cancelOwn(NodeCalls.Cancellation asked) {
    boolean isOwn = reports.isRunning(asked.callId(), asked.caller());
    if (isOwn) {
      cancel(asked.callId(), "The caller has cancelled the call");
    }
    return isOwn;
  }

  /**
   * Cancels the unfinished calls of a batch whose client disconnected. Goes backwards, so that a
   * queued call is cancelled before the call that it waits for and cannot start in its place.
   */
  public void cancelAll(List<CallRequest> running, List<Future<CallOutcome>> outcomes) {
    if (outcomes.stream().anyMatch(outcome -> !outcome.isComplete())) {
      for (int i = running.size() - 1; i >= 0; i--) {
        cancel(running.get(i).id(), "The client disconnected");
      }
    }
  }

  /** Withdraws the held calls of a batch whose client disconnected, and so cannot decide them. */
  public void withdrawAll(Caller caller, List<Future<CallOutcome>> outcomes) {
    for (Future<CallOutcome> outcome : outcomes) {
      if (outcome.succeeded()
          && outcome.result() instanceof CallOutcome.NeedsConfirmation held
          && held.pending().token() != null) {
        bus.request(
            Gate.DECIDE,
            new Gate.HumanDecision(
                held.pending().confirmation().id(),
                false,
                held.pending().token(),
                new Gate.Viewer(caller.name(), false),
                "The client disconnected"));
      }
    }
  }

  /** Refuses calls when memory is short. Approved calls wait, as they cannot be approved again. */
  private Future<ServerView> resolve(CallRequest request, CancellationToken cancellation) {
    // before a server is started; the rights that are left count when it is admitted
    Principal principal = request.caller().principal();
    if (!principal.may(Scope.CALL)) {
      return Future.failedFuture(principal.lacking(Scope.CALL));
    }
    return limits.memory().isHigh()
        ? Future.failedFuture(
            new BridgeException(
                    ErrorCode.OVERLOADED,
                    "Not enough memory for the response: too many responses are in flight")
                .withRetryAfter(1_000))
        : awaitStart(request.caller(), request.server(), request.target(), cancellation);
  }

  /** Waits for the start of the server, which counts against the timeout of the call. */
  private Future<ServerView> awaitStart(
      Caller caller, ServerId server, Target target, CancellationToken cancellation) {
    Future<ServerView> discovered = access.whole(caller.principal(), server);
    if (discovered.isComplete()) {
      return discovered;
    }
    Promise<ServerView> start = Promise.promise();
    cancellation.onCancel(start::tryFail);
    discovered.onComplete(start::tryComplete, start::tryFail);
    return access
        .find(caller.principal(), server)
        .compose(
            view ->
                TimeLimit.beforeCall(
                    Duration.ofMillis(view.timeouts().of(target) + GRACE_MILLIS), start.future()));
  }

  private AdmittedCall admit(
      CallRequest request, CancellationToken cancellation, ServerView server, long startNanos) {
    request.caller().principal().require(Scope.CALL);
    Target target = request.target();
    Tool tool = null;
    if (target.kind() == Target.Kind.TOOL) {
      tool = tool(server, target.name());
    }
    Permission permission =
        access.require(request.caller().principal(), server, target, tool, request.arguments());
    limits.pins().requireOffered(server.id(), target);
    int urgency = limits.urgencies().of(request.caller().principal(), request.envelope().urgency());
    Call call =
        call(request, cancellation)
            .withTimeout(server.timeouts().of(target), startNanos)
            .withEnvelope(request.envelope().withUrgency(urgency));
    return new AdmittedCall(server, tool, call, permission);
  }

  /** The access rules decide first about a tool that is held: not everyone may know of it. */
  private Tool tool(ServerView server, String name) {
    Tool offered = server.catalogue().tools().get(name);
    Tool tool = offered == null ? limits.pins().heldTool(server.id(), name) : offered;
    if (tool == null && server.risk().block(name)) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN,
          "The configuration of server '" + server.id() + "' blocks this tool");
    }
    if (tool == null) {
      throw unknownTool();
    }
    return tool;
  }

  private static Call call(CallRequest request, CancellationToken cancellation) {
    return new Call(
        request.id(),
        request.server(),
        request.target(),
        request.arguments().json(),
        request.caller(),
        0,
        request.streaming(),
        request.envelope(),
        cancellation);
  }

  static BridgeException unknownTool() {
    return new BridgeException(ErrorCode.TOOL_NOT_FOUND, "Unknown tool");
  }

  /**
   * Admits a call again with the rights that its caller has now.
   *
   * @param shownDigest of what was shown for confirmation
   */
  private AdmittedCall readmit(Call call, String shownDigest, ServerView server) {
    limits.pins().requireOffered(call.server(), call.target());
    Tool tool = server.catalogue().tools().get(call.target().name());
    if (!definitionDigest(server, tool).equals(shownDigest)) {
      throw new BridgeException(
          ErrorCode.TOOL_CHANGED,
          "The definition of the "
              + call.target().kind().noun()
              + " or the program of its server changed after it was shown for confirmation");
    }
    Principal asker = access.renewed(call.caller().principal());
    asker.require(Scope.CALL);
    Permission permission =
        access.require(
            asker, server, call.target(), tool, Arguments.fromScanned(call.arguments(), false));
    Call renewed = call.withTimeout(server.timeouts().of(call.target()));
    return new AdmittedCall(server, tool, renewed, permission);
  }

  static String definitionDigest(ServerView server, Tool tool) {
    return server.program() + " " + (tool == null ? "" : tool.digest());
  }

  private Future<Void> validate(AdmittedCall admitted, CallRequest request) {
    return schemas.check(request, admitted.tool());
  }

  /** If the gate does not respond, the call fails. */
  private Future<Decision> assess(AdmittedCall admitted) {
    boolean destructive = admitted.tool() != null && admitted.tool().destructive();
    Assessment assessment =
        new Assessment(
            admitted.call().target(),
            admitted.server().risk(),
            destructive,
            admitted.permission().atLeast());
    return bus.request(Gate.ASSESS, assessment);
  }

  private Future<CallOutcome> act(AdmittedCall admitted, Decision decision) {
    admitted.call().cancellation().check();
    return switch (decision) {
      case ALLOW -> invoke(admitted);
      case CONFIRM -> confirmLater(admitted);
      case ISOLATE -> isolate(admitted);
    };
  }

  /** A call that requires isolation since its approval runs in a container. */
  private Future<CallOutcome> actApproved(AdmittedCall admitted, Decision decision) {
    admitted.call().cancellation().check();
    return decision == Decision.ISOLATE ? isolate(admitted) : invokeApproved(admitted);
  }

  /** If the upstream is a bridge that requires a confirmation, this bridge requires one as well. */
  private Future<CallOutcome> invoke(AdmittedCall admitted) {
    return send(admitted, Addresses.call(admitted.call().server()))
        .compose(
            result -> {
              Optional<String> remoteConfirmation = requiredConfirmation(admitted.server(), result);
              return remoteConfirmation.isPresent()
                  ? confirmLater(admitted.confirmed(remoteConfirmation.get()))
                  : Future.succeededFuture(CallOutcome.Completed.of(admitted.server(), result));
            });
  }

  /** The approval at this bridge also confirms the call for a bridge that is its upstream. */
  private Future<CallOutcome> invokeApproved(AdmittedCall admitted) {
    Address<Call, JsonSlice> address = Addresses.call(admitted.call().server());
    return send(admitted.uncached(), address)
        .compose(
            result ->
                requiredConfirmation(admitted.server(), result)
                    .map(confirmation -> send(admitted.confirmed(confirmation), address))
                    .orElseGet(() -> Future.succeededFuture(result)))
        .map(result -> CallOutcome.Completed.of(admitted.server(), result));
  }

  /** The id of the confirmation that an upstream bridge requires first, if any. */
  private static Optional<String> requiredConfirmation(ServerView server, JsonSlice result) {
    if (!server.identity().isBridge() || !result.mentions(CONFIRMATION)) {
      return Optional.empty();
    }
    JsonSlice meta = JsonObjects.members(result).get("_meta");
    return meta == null || !meta.isObject()
        ? Optional.empty()
        : Optional.ofNullable(
            JsonObjects.string(JsonObjects.members(meta).get(MetaKeys.CONFIRMATION)));
  }

  /** Runs the call in a container. Without a container it fails; it never runs on the host. */
  private Future<CallOutcome> isolate(AdmittedCall admitted) {
    return admitted.server().image() != null
        ? send(admitted, Addresses.isolated(admitted.call().server()))
            .map(
                result ->
                    CallOutcome.Completed.of(admitted.server(), CacheNote.removedFrom(result)))
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
              answered(admitted, System.nanoTime() - sentNanos);
              outputs.check(admitted.call().server(), admitted.tool(), result);
            })
        .onFailure(failure -> failed(admitted, failure));
  }

  private void answered(AdmittedCall admitted, long nanos) {
    Call call = admitted.call();
    String server = counted(call.server());
    counts.answered(server, nanos);
    if (isCountedPerTool(admitted)) {
      counts.toolAnswered(server, admitted.tool().name(), nanos);
    }
    TraceContext trace = bus.telemetry().tracer().isOn() ? TraceContext.of(call.envelope()) : null;
    if (trace != null && trace.isSampled()) {
      counts.traced(server, nanos, trace.traceId(), trace.spanId());
    }
  }

  private void failed(AdmittedCall admitted, Throwable failure) {
    if (isCountedPerTool(admitted)) {
      String code = BridgeException.of(failure).code().slug();
      counts.toolFailed(counted(admitted.call().server()), admitted.tool().name(), code);
    }
  }

  private boolean isCountedPerTool(AdmittedCall admitted) {
    return counts.isPerTool() && admitted.tool() != null;
  }

  private Future<CallOutcome> confirmLater(AdmittedCall admitted) {
    return bus.request(
            Gate.CONFIRM_LATER,
            new ConfirmationRequest(admitted.call(), admitted.definitionDigest()))
        .map(
            confirmation -> {
              counts.ended(admitted.call().server().name(), "needs_confirmation");
              return new CallOutcome.NeedsConfirmation(confirmation);
            });
  }

  /** Logs and counts a failure, once, and adds the message prefix of the original API. */
  private Future<CallOutcome> recordFailure(CallReport report, Throwable failure) {
    BridgeException error = BridgeException.of(failure);
    count(report.server(), error.code());
    if (!(failure instanceof BridgeException)) {
      LOG.log(Level.ERROR, report.logged(error).toString(), failure);
      return Future.failedFuture(error);
    }
    FAILURES.log(
        report.server() + " " + error.code(),
        error.code().status() >= 500,
        () -> report.logged(error));
    return Future.failedFuture(withPrefix(report.target(), error));
  }

  /** Unknown server names are counted under an empty name. */
  private void count(ServerId server, ErrorCode code) {
    counts.ended(counted(server), code.slug());
  }

  private String counted(ServerId server) {
    return access.exists(server) ? server.name() : "";
  }

  private static BridgeException withPrefix(Target target, BridgeException failure) {
    return switch (failure.code()) {
      case SERVER_NOT_FOUND,
          TOOL_CHANGED,
          DEFINITION_CHANGED,
          ISOLATION_UNAVAILABLE,
          IMAGE_NOT_FOUND,
          INVALID_SERVER ->
          failure;
      default ->
          target.kind() == Target.Kind.RESOURCE
              ? failure
              : failure.prefixed(
                  "Error executing " + target.kind().noun() + " " + target.name() + ": ");
    };
  }
}
