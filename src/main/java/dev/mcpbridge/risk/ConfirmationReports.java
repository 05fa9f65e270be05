package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate.ConfirmationQuery;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.Event;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.TraceContext;
import io.vertx.core.Vertx;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Reports what becomes of confirmations, as events and in the audit trail. Confined to the event
 * loop.
 */
final class ConfirmationReports {
  /** After the expiry, so that the clocks of the nodes agree about it. */
  private static final long GRACE_MILLIS = 50;

  private static final long AGAIN_MILLIS = 1_000;
  private static final String EVENT = "confirmation";
  private static final String PENDING = "pending";

  private final Vertx vertx;
  private final Bus bus;
  private final Confirmations confirmations;
  private final Counts counts;

  /** The timers of undecided confirmations, which keep no arguments. */
  private final Map<String, Long> expiries = new ConcurrentHashMap<>();

  ConfirmationReports(Vertx vertx, Bus bus, Confirmations confirmations) {
    this.vertx = vertx;
    this.bus = bus;
    this.confirmations = confirmations;
    this.counts = bus.telemetry().counts();
    bus.subscribe(Addresses.EVENTS, this::decidedAnywhere);
    counts.addGauge(
        "approvals_pending",
        "Confirmations of calls of this node that wait for their decision.",
        expiries::size);
  }

  /** A confirmation was created at this node, which reports its expiry too. */
  void added(Confirmation confirmation) {
    publish(confirmation, PENDING);
    bus.offer(
        Addresses.NOTICES, () -> notice(Notice.Type.CONFIRMATION_PENDING, confirmation, null));
    Viewer approver = new Viewer(confirmation.call().caller().name(), true);
    awaitExpiry(
        new ConfirmationQuery(confirmation.id(), approver),
        confirmation.expiresAtMillis() - confirmation.createdAtMillis() + GRACE_MILLIS);
  }

  private void awaitExpiry(ConfirmationQuery query, long millis) {
    long timer =
        vertx.setTimer(
            millis,
            due -> {
              expiries.remove(query.id());
              confirmations.find(query).onSuccess(found -> due(query, found));
            });
    expiries.put(query.id(), timer);
  }

  /** It may have been decided at another node, or the clock was set back. */
  private void due(ConfirmationQuery query, ConfirmationState found) {
    if (found.status() == ConfirmationState.Status.EXPIRED) {
      publish(found.confirmation(), "expired");
      counts.count(Event.APPROVAL, "expired");
      bus.offer(
          Addresses.NOTICES,
          () -> notice(Notice.Type.CONFIRMATION_EXPIRED, found.confirmation(), null));
      bus.offer(Addresses.AUDIT, () -> record(found.confirmation(), "expire"));
    } else if (found.status() == ConfirmationState.Status.PENDING) {
      awaitExpiry(query, AGAIN_MILLIS);
    }
  }

  /** A confirmation of this node may be decided at another one. */
  private void decidedAnywhere(BridgeEvent event) {
    if (event.name().equals(EVENT) && !expiries.isEmpty()) {
      Map<String, JsonSlice> members = JsonObjects.members(event.data());
      if (!PENDING.equals(JsonObjects.string(members.get("status")))) {
        forget(JsonObjects.string(members.get("confirmation_id")));
      }
    }
  }

  private void forget(String confirmationId) {
    Long timer = expiries.remove(confirmationId);
    if (timer != null) {
      vertx.cancelTimer(timer);
    }
  }

  void decided(Confirmation confirmation, HumanDecision decision) {
    forget(confirmation.id());
    String status = decision.confirm() ? "approved" : "rejected";
    publish(confirmation, status);
    counts.count(Event.APPROVAL, status);
    Notice.Type type =
        decision.confirm() ? Notice.Type.CONFIRMATION_APPROVED : Notice.Type.CONFIRMATION_REJECTED;
    bus.offer(Addresses.NOTICES, () -> notice(type, confirmation, decision.by().name()));
    long waitedMillis = System.currentTimeMillis() - confirmation.createdAtMillis();
    counts.approvalWait().add(TimeUnit.MILLISECONDS.toNanos(Math.max(0, waitedMillis)));
    bus.offer(
        Addresses.AUDIT,
        () ->
            record(confirmation, decision.confirm() ? "approve" : "reject")
                .with("approver", decision.by().name())
                .with("reason", decision.reason().isEmpty() ? null : decision.reason()));
  }

  /**
   * Records that a decision was refused; not if there is no such confirmation, and not each of too
   * many attempts, which would fill the trail.
   */
  void refused(HumanDecision decision, ErrorCode code) {
    if (code != ErrorCode.CONFIRMATION_NOT_FOUND && code != ErrorCode.RATE_LIMITED) {
      bus.offer(
          Addresses.AUDIT,
          () ->
              new AuditRecord("confirmation")
                  .with("confirmation", decision.confirmationId())
                  .with("decision", "refuse")
                  .with("approver", decision.by().name())
                  .with("code", code.slug()));
    }
  }

  private static AuditRecord record(Confirmation confirmation, String decision) {
    TraceContext trace = TraceContext.of(confirmation.call().envelope());
    return new AuditRecord("confirmation")
        .with("confirmation", confirmation.id())
        .with("call", confirmation.call().id())
        .with("trace_id", trace == null ? null : trace.traceId())
        .with("decision", decision)
        .with("principal", confirmation.call().caller().name())
        .with("server", confirmation.call().server().name())
        .with("kind", confirmation.call().target().kind().noun())
        .with("name", confirmation.call().target().name())
        .with("digest", confirmation.digest());
  }

  private static Notice notice(Notice.Type type, Confirmation confirmation, String decidedBy) {
    String caller = confirmation.call().caller().name();
    JsonWriter data =
        new JsonWriter()
            .beginObject()
            .member("confirmation_id", confirmation.id())
            .member("server_id", confirmation.call().server().name())
            .member("method", confirmation.call().target().kind().method())
            .bounded("tool_name", confirmation.call().target().name(), Notice.MAX_TEXT)
            .member("risk_level", confirmation.level().number())
            .member("caller", caller)
            .member("digest", confirmation.digest())
            .member("expires_at", Instant.ofEpochMilli(confirmation.expiresAtMillis()).toString());
    if (decidedBy != null) {
      data.member("decided_by", decidedBy);
    }
    return new Notice(type, caller, data.endObject().toSlice(), confirmation.call().arguments());
  }

  private void publish(Confirmation confirmation, String status) {
    JsonWriter event =
        new JsonWriter()
            .beginObject()
            .member("confirmation_id", confirmation.id())
            .member("status", status)
            .member("server_id", confirmation.call().server().name())
            .member("method", confirmation.call().target().kind().method())
            .member("tool_name", confirmation.call().target().name())
            .endObject();
    bus.publish(
        Addresses.EVENTS,
        new BridgeEvent(EVENT, event.toSlice(), confirmation.call().caller().name(), null, null));
  }
}
