package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ConfirmationRequest;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Confirmation;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Clock;
import java.util.function.BooleanSupplier;

/** Registers the addresses of the gate. Runs on an event loop; all operations are short. */
public final class RiskVerticle extends VerticleBase {
  private final Bus bus;
  private final Confirmations confirmations;
  private ConfirmationReports reports;
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
    reports = new ConfirmationReports(vertx, bus, confirmations);
    bus.serve(Gate.ASSESS, assessment -> Future.succeededFuture(policy.decide(assessment)));
    bus.serve(Gate.GRADING, unused -> Future.succeededFuture(policy));
    bus.serve(Gate.CONFIRM_LATER, this::confirmLater);
    bus.serve(Gate.DECIDE, this::decide);
    bus.serve(Gate.APPROVED_ENDED, end -> confirmations.ended(end.id(), end.executed()));
    bus.serve(Gate.CONFIRMATION, confirmations::find);
    bus.serve(Gate.CONFIRMATIONS, confirmations::visibleTo);
    return Future.succeededFuture();
  }

  /** Applies a new configuration of levels and confirmations. May be called from any thread. */
  public void reload(RiskConfig config) {
    policy = new RiskPolicy(config);
    confirmations.reload(config);
  }

  private Future<PendingConfirmation> confirmLater(ConfirmationRequest request) {
    Confirmation repeated = confirmations.repeated(request);
    return repeated == null
        ? confirmations.add(request).onSuccess(added -> reports.added(added.confirmation()))
        : Future.succeededFuture(new PendingConfirmation(repeated, null));
  }

  private Future<Confirmation> decide(HumanDecision decision) {
    return confirmations
        .claim(decision)
        .onSuccess(claimed -> reports.decided(claimed, decision))
        .onFailure(failure -> reports.refused(decision, BridgeException.of(failure).code()))
        .map(claimed -> decision.confirm() ? claimed : null);
  }
}
