package dev.mcpbridge.call;

import dev.mcpbridge.access.DeniedByRule;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.Decision;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.AuditRecord.Need;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The audit records of one run of a call: exactly one about its decision, before it runs, and one
 * about its outcome. Confined to the HTTP verticle.
 */
final class CallAudit {
  private static final Future<Void> DONE = Future.succeededFuture();
  private static final byte[] ERROR_MEMBER = "\"isError\"".getBytes(StandardCharsets.US_ASCII);

  private final Bus bus;
  private final String id;
  private final Caller caller;
  private final ServerId server;
  private final Target target;
  private final JsonSlice arguments;
  private final String confirmation;
  private final long startNanos = System.nanoTime();
  private boolean isDecided;

  private CallAudit(
      Bus bus,
      String id,
      Caller caller,
      ServerId server,
      Target target,
      JsonSlice arguments,
      String confirmation) {
    this.bus = bus;
    this.id = id;
    this.caller = caller;
    this.server = server;
    this.target = target;
    this.arguments = arguments;
    this.confirmation = confirmation;
  }

  /** Begins the records of a request; without an audit trail they lead nowhere. */
  static CallAudit of(Bus bus, CallRequest request) {
    return new CallAudit(
        bus.isServed(Addresses.AUDIT) ? bus : null,
        request.id(),
        request.caller(),
        request.server(),
        request.target(),
        request.arguments().json(),
        null);
  }

  /** Begins the records of an approved call. */
  static CallAudit of(Bus bus, Call call, String confirmation) {
    return new CallAudit(
        bus.isServed(Addresses.AUDIT) ? bus : null,
        call.id(),
        call.caller(),
        call.server(),
        call.target(),
        call.arguments(),
        confirmation);
  }

  /**
   * Records the decision of the gate.
   *
   * @param definition what identifies the definition and the program
   * @return fails with AUDIT_UNAVAILABLE if it cannot be recorded and calls are refused then
   */
  Future<Void> decided(Decision decision, String definition) {
    if (bus == null) {
      return DONE;
    }
    isDecided = true;
    boolean isLow = decision == Decision.ALLOW && confirmation == null;
    AuditRecord record =
        decision(isLow ? Need.ACCEPTED : Need.DURABLE)
            .with("decision", word(decision))
            .with("definition", definition)
            .withArguments(arguments);
    return bus.request(Addresses.AUDIT, record).onFailure(refused -> isDecided = false);
  }

  /** A call that was approved is not held again. */
  private String word(Decision decision) {
    boolean isApproved = confirmation != null && decision == Decision.CONFIRM;
    return (isApproved ? Decision.ALLOW : decision).name().toLowerCase(Locale.ROOT);
  }

  private AuditRecord decision(Need need) {
    Principal principal = caller.principal();
    AuditRecord record =
        new AuditRecord("call.decision", need)
            .with("call", id)
            .with("principal", principal.name())
            .with("roles", principal.roles());
    if (!principal.isAnonymous()) {
      record.with("scopes", principal.scopeNames());
    }
    if (principal.token() != null) {
      record.with("client", principal.token().client());
    } else if (principal.isAnonymous()) {
      record.with("address", caller.share());
    }
    return record
        .with("door", caller.door())
        .with("server", server.name())
        .with("kind", target.kind().noun())
        .with("name", target.name())
        .with("confirmation", confirmation);
  }

  /** Records the outcome; a call that failed before its decision was refused. */
  void ended(CallOutcome outcome) {
    if (bus == null) {
      return;
    }
    AuditRecord record = outcome();
    if (outcome instanceof CallOutcome.Completed completed) {
      record
          .with("outcome", isError(completed.result()) ? "tool_error" : "completed")
          .with("executed", "yes")
          .with("result_bytes", completed.result().length());
    } else if (outcome instanceof CallOutcome.NeedsConfirmation needed) {
      record
          .with("outcome", "needs_confirmation")
          .with("executed", "no")
          .with("confirmation", needed.pending().confirmation().id());
    }
    bus.request(Addresses.AUDIT, record);
  }

  void failed(Throwable cause) {
    if (bus == null) {
      return;
    }
    BridgeException failure = BridgeException.of(cause);
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
    bus.request(
        Addresses.AUDIT,
        outcome()
            .with("outcome", failure.code() == ErrorCode.CANCELLED ? "cancelled" : "failed")
            .with("executed", failure.executed().apiName())
            .with("code", failure.code().slug()));
  }

  private AuditRecord outcome() {
    return new AuditRecord("call.outcome")
        .with("call", id)
        .with("principal", caller.name())
        .with("server", server.name())
        .with("kind", target.kind().noun())
        .with("name", target.name())
        .with("ms", (System.nanoTime() - startNanos) / 1_000_000);
  }

  private static boolean isError(JsonSlice result) {
    if (!result.mentions(ERROR_MEMBER)) {
      return false;
    }
    JsonSlice isError = JsonObjects.members(result).get("isError");
    return isError != null && isError.text().equals("true");
  }
}
