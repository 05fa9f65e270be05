package dev.mcpbridge.call;

import dev.mcpbridge.access.DeniedByRule;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.error.LoggedFailure;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.Event;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.AuditRecord.Need;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ToolResult;
import dev.mcpbridge.protocol.TraceContext;
import dev.mcpbridge.trace.CallSpans;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import io.vertx.core.Future;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Reports one run of a call: exactly one decision, before it runs, and one outcome; to the audit
 * trail, the counts, the trace, and those who look at the calls. Confined to the HTTP verticle.
 */
final class CallReport {
  private static final Future<Void> DONE = Future.succeededFuture();
  private static final int MAX_NAME = 256;

  private final Bus bus;
  private final boolean isAudited;
  private final String id;
  private final Caller caller;
  private final ServerId server;
  private final Target target;
  private final JsonSlice arguments;
  private final Envelope envelope;
  private final String confirmation;
  private final Consumer<CallReport> onEnd;
  private final long startNanos = System.nanoTime();
  private final long startMillis = System.currentTimeMillis();
  private boolean isDecided;
  private CallSummary.Outcome outcome;
  private CacheNote note;

  /**
   * The report of a request.
   *
   * @param onEnd called with it when the run has ended
   */
  CallReport(Bus bus, CallRequest request, Consumer<CallReport> onEnd) {
    this.onEnd = onEnd;
    this.bus = bus;
    this.isAudited = bus.isServed(Addresses.AUDIT);
    this.id = request.id();
    this.caller = request.caller();
    this.server = request.server();
    this.target = request.target();
    this.arguments = request.arguments().json();
    this.envelope = request.envelope();
    this.confirmation = null;
  }

  /**
   * The report of an approved call.
   *
   * @param confirmation id of its confirmation
   */
  CallReport(Bus bus, Call call, String confirmation, Consumer<CallReport> onEnd) {
    this.onEnd = onEnd;
    this.bus = bus;
    this.isAudited = bus.isServed(Addresses.AUDIT);
    this.id = call.id();
    this.caller = call.caller();
    this.server = call.server();
    this.target = call.target();
    this.arguments = call.arguments();
    this.envelope = call.envelope();
    this.confirmation = confirmation;
  }

  CallSummary summary() {
    return new CallSummary(
        id, caller.name(), caller.door(), server, abbreviated(), startMillis, outcome);
  }

  /** A URI may be long, and summaries are kept. */
  private Target abbreviated() {
    String name = target.name();
    return name.length() <= MAX_NAME
        ? target
        : new Target(target.kind(), name.substring(0, MAX_NAME) + "…");
  }

  /** Whose quota it counts against. */
  String share() {
    return caller.share();
  }

  ServerId server() {
    return server;
  }

  Target target() {
    return target;
  }

  /** What the log has about its failure. */
  LoggedFailure logged(BridgeException failure) {
    TraceContext trace = TraceContext.of(envelope);
    return new LoggedFailure(
        server.name(),
        target.name(),
        id,
        trace == null ? null : trace.traceId(),
        trace == null ? null : trace.spanId(),
        failure.code(),
        failure.getMessage());
  }

  /**
   * Reports the decision of the gate.
   *
   * @param definition what identifies the definition and the program
   * @param permission by the access rules
   * @return fails with AUDIT_UNAVAILABLE if it cannot be recorded and calls are refused then
   */
  Future<Void> decided(Decision decision, String definition, Permission permission) {
    isDecided = true;
    if (!isAudited) {
      countDecision(decision);
      return DONE;
    }
    boolean isLow = decision == Decision.ALLOW && confirmation == null;
    AuditRecord record =
        decision(isLow ? Need.ACCEPTED : Need.DURABLE)
            .with("decision", word(decision))
            .with("definition", definition)
            .with("would_deny", permission.wouldDeny())
            .withArguments(arguments);
    return bus.request(Addresses.AUDIT, record)
        .onSuccess(recorded -> countDecision(decision))
        .onFailure(refused -> isDecided = false);
  }

  private void countDecision(Decision decision) {
    gateSpan(word(decision)).end();
    counts().count(Event.GATE, level(decision), word(decision));
  }

  private Counts counts() {
    return bus.telemetry().counts();
  }

  private static String level(Decision decision) {
    return switch (decision) {
      case ALLOW -> "1";
      case CONFIRM -> "2";
      case ISOLATE -> "3";
    };
  }

  private Span gateSpan(String verdict) {
    return bus.telemetry()
        .tracer()
        .begin(Span.Kind.INTERNAL, Conventions.GATE_SPAN, envelope, startNanos)
        .set(Conventions.SERVER, server.name())
        .set(Conventions.GATE, verdict);
  }

  /** A call that was approved is not held again. */
  private String word(Decision decision) {
    boolean isApproved = confirmation != null && decision == Decision.CONFIRM;
    return (isApproved ? Decision.ALLOW : decision).name().toLowerCase(Locale.ROOT);
  }

  private AuditRecord decision(Need need) {
    Principal principal = caller.principal();
    TraceContext trace = TraceContext.of(envelope);
    AuditRecord record =
        new AuditRecord("call.decision", need)
            .with("call", id)
            .with("trace_id", trace == null ? null : trace.traceId())
            .with("principal", principal.name())
            .with("roles", principal.roles());
    if (!principal.isAnonymous()) {
      record.with("scopes", principal.scopeNames());
    }
    if (principal.token() != null) {
      record.with("client", principal.token().client());
    }
    boolean isKnownByAddress = caller.address() == null && principal.isAnonymous();
    return record
        .with("address", isKnownByAddress ? caller.share() : caller.address())
        .with("door", caller.door())
        .with("server", server.name())
        .with("kind", target.kind().noun())
        .with("name", target.name())
        .with("confirmation", confirmation);
  }

  /** Reports the outcome. */
  void ended(CallOutcome end) {
    if (end instanceof CallOutcome.Completed completed) {
      note = completed.note();
      if (note != null) {
        counts().count(Event.CACHE, note.status().word());
      }
      boolean isHit = note != null && note.status() == CacheNote.Status.HIT;
      boolean isError = ToolResult.isError(completed.result());
      ended(
          isHit ? "cached" : isError ? "tool_error" : "completed",
          isHit ? Executed.NO : Executed.YES,
          null);
    } else {
      ended("needs_confirmation", Executed.NO, null);
    }
    if (!isAudited) {
      return;
    }
    AuditRecord record = outcomeRecord();
    if (end instanceof CallOutcome.Completed completed) {
      record
          .with("result_bytes", completed.result().length())
          .with("joined", note == null ? null : note.sharedCall());
    } else if (end instanceof CallOutcome.NeedsConfirmation needed) {
      record.with("confirmation", needed.pending().confirmation().id());
    }
    bus.request(Addresses.AUDIT, record);
  }

  private void ended(String word, Executed executed, ErrorCode code) {
    outcome =
        new CallSummary.Outcome(word, executed, code, (System.nanoTime() - startNanos) / 1_000_000);
    onEnd.accept(this);
  }

  /** Reports a failure; a call that failed before its decision was refused. */
  void failed(Throwable cause) {
    BridgeException failure = BridgeException.of(cause);
    boolean isCancelled = failure.code() == ErrorCode.CANCELLED;
    ended(isCancelled ? "cancelled" : "failed", failure.executed(), failure.code());
    if (!isDecided) {
      CallSpans.failed(gateSpan("refuse"), failure).end();
      counts().count(Event.GATE, "", "refuse");
    }
    if (!isAudited) {
      return;
    }
    if (!isDecided) {
      bus.request(
          Addresses.AUDIT,
          decision(Need.NONE)
              .with("decision", "refuse")
              .with("code", failure.code().slug())
              .with(
                  "rule", failure.getCause() instanceof DeniedByRule denied ? denied.rule() : null)
              .withArguments(arguments));
    }
    bus.request(Addresses.AUDIT, outcomeRecord().with("code", failure.code().slug()));
  }

  private AuditRecord outcomeRecord() {
    return new AuditRecord("call.outcome")
        .with("call", id)
        .with("principal", caller.name())
        .with("server", server.name())
        .with("kind", target.kind().noun())
        .with("name", target.name())
        .with("ms", outcome.millis())
        .with("outcome", outcome.word())
        .with("executed", outcome.executed().apiName());
  }
}
