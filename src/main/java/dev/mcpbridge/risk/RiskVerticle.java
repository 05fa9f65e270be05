package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ConfirmationQuery;
import dev.mcpbridge.bus.Addresses.ConfirmationRequest;
import dev.mcpbridge.bus.Addresses.ConfirmationState;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Clock;
import java.util.function.BooleanSupplier;

/** Registers the addresses of the gate. Runs on an event loop; all operations are short. */
public final class RiskVerticle extends VerticleBase {
  /** After the expiry, so that the clocks of the nodes agree about it. */
  private static final long EXPIRY_GRACE_MILLIS = 50;

  private final Bus bus;
  private final Confirmations confirmations;
  private volatile RiskPolicy policy;

  /**
   * @param severalCallers whether callers can be told apart at this moment
   */
  public RiskVerticle(Bus bus, Cluster cluster, RiskConfig config, BooleanSupplier severalCallers) {
    this.bus = bus;
    this.policy = new RiskPolicy(config);
    this.confirmations =
        new Confirmations(config, Clock.systemUTC(), cluster.map("confirmations"), severalCallers);
  }

  @Override
  public Future<?> start() {
    bus.serve(Addresses.ASSESS, assessment -> Future.succeededFuture(policy.decide(assessment)));
    bus.serve(Addresses.GRADING, unused -> Future.succeededFuture(policy));
    bus.serve(Addresses.CONFIRM_LATER, this::confirmLater);
    bus.serve(Addresses.DECIDE, this::decide);
    bus.serve(Addresses.APPROVED_ENDED, end -> confirmations.ended(end.id(), end.executed()));
    bus.serve(Addresses.CONFIRMATION, confirmations::find);
    bus.serve(Addresses.CONFIRMATIONS, confirmations::visibleTo);
    return Future.succeededFuture();
  }

  /** Applies a new configuration of levels and confirmations. May be called from any thread. */
  public void reload(RiskConfig config) {
    policy = new RiskPolicy(config);
    confirmations.reload(config);
  }

  private Future<PendingConfirmation> confirmLater(ConfirmationRequest request) {
    return confirmations
        .add(request)
        .onSuccess(
            added -> {
              publishStatus(added.confirmation(), "pending");
              reportExpiry(added.confirmation());
            });
  }

  /** Reports that a confirmation was not decided in time. */
  private void reportExpiry(Confirmation confirmation) {
    long millis = confirmation.expiresAtMillis() - confirmation.createdAtMillis();
    ConfirmationQuery query =
        new ConfirmationQuery(
            confirmation.id(), new Viewer(confirmation.call().caller().name(), true));
    vertx.setTimer(
        millis + EXPIRY_GRACE_MILLIS,
        timer ->
            confirmations
                .find(query)
                .onSuccess(
                    found -> {
                      if (found.status() == ConfirmationState.Status.EXPIRED) {
                        publishStatus(confirmation, "expired");
                        bus.offer(Addresses.AUDIT, () -> record(confirmation, "expire"));
                      }
                    }));
  }

  private Future<Confirmation> decide(HumanDecision decision) {
    return confirmations
        .claim(decision)
        .onSuccess(claimed -> publishStatus(claimed, decision.confirm() ? "approved" : "rejected"))
        .onSuccess(claimed -> record(claimed, decision))
        .map(claimed -> decision.confirm() ? claimed : null);
  }

  private void record(Confirmation claimed, HumanDecision decision) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            record(claimed, decision.confirm() ? "approve" : "reject")
                .with("approver", decision.by().name()));
  }

  private static AuditRecord record(Confirmation confirmation, String decision) {
    return new AuditRecord("confirmation")
        .with("confirmation", confirmation.id())
        .with("decision", decision)
        .with("principal", confirmation.call().caller().name())
        .with("server", confirmation.call().server().name())
        .with("kind", confirmation.call().target().kind().noun())
        .with("name", confirmation.call().target().name())
        .with("digest", confirmation.digest());
  }

  private void publishStatus(Confirmation confirmation, String status) {
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
        new BridgeEvent(
            "confirmation", event.toSlice(), confirmation.call().caller().name(), null, null));
  }
}
