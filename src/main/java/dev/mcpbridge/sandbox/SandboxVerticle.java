package dev.mcpbridge.sandbox;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.SandboxPool;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.Event;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallQueue;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Era;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.session.Handshake;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Serves the calls of one server that run in a container each. Removes the containers when it is
 * undeployed.
 */
final class SandboxVerticle extends VerticleBase {
  private final Bus bus;
  private final LeaseConditions leaseConditions;
  private final InstanceId instanceId;
  private final ServerConfig config;
  private final Standby.ContainerRecipe containerRecipe;
  private final BridgeIdentity self;
  private final LongSupplier drainMillis;
  private Era era;
  private StandbyPool standbyPool;

  /**
   * Conditions that may change at any time.
   *
   * @param mayAct whether this bridge may start calls at this moment
   * @param callerLimits what bounds the calls of each caller
   */
  record LeaseConditions(BooleanSupplier mayAct, CallerLimits callerLimits) {}

  SandboxVerticle(
      Bus bus,
      LeaseConditions leaseConditions,
      InstanceId instanceId,
      ServerConfig config,
      Standby.ContainerRecipe containerRecipe,
      BridgeIdentity self,
      LongSupplier drainMillis) {
    this.bus = bus;
    this.leaseConditions = leaseConditions;
    this.instanceId = instanceId;
    this.config = config;
    this.self = self;
    this.drainMillis = drainMillis;
    this.containerRecipe = containerRecipe;
    this.era = config.sessionSettings().era();
  }

  @Override
  public Future<?> start() {
    int maxQueued = config.supervision().maxQueued();
    SandboxPool sizes = sizes();
    CallQueue queue =
        new CallQueue(
            vertx, config.id(), maxQueued, sizes.max(), leaseConditions.callerLimits().sharing());
    standbyPool =
        new StandbyPool(
            context,
            config.id(),
            sizes,
            queue,
            this::mayBegin,
            this::startStandby,
            bus.telemetry());
    bus.serve(Addresses.waiting(instanceId), query -> Future.succeededFuture((long) queue.size()));
    bus.serve(
        Addresses.isolated(config.id()).at(instanceId),
        call ->
            leaseConditions
                .callerLimits()
                .quotas()
                .within(Quotas.Place.OWNER, call, () -> standbyPool.run(prepare(call))));
    standbyPool.refill();
    return Future.succeededFuture();
  }

  private boolean mayBegin() {
    return leaseConditions.mayAct().getAsBoolean() && !containerRecipe.limits().memory().isHigh();
  }

  private Call prepare(Call call) {
    return config.sessionSettings().forwardsRoots() ? call : call.withoutRoots();
  }

  /** No container is kept ready if no tool is configured at level 3. */
  private SandboxPool sizes() {
    return config.risk().contains(RiskLevel.HIGH)
        ? config.sandboxPool()
        : config.sandboxPool().onDemand();
  }

  @Override
  public Future<?> stop() {
    return standbyPool.close(drainMillis.getAsLong());
  }

  /** The era is probed once; a server that crashed on the probe is not probed again. */
  private Future<Standby> startStandby() {
    Handshake.HandshakeOptions options =
        new Handshake.HandshakeOptions(era, config.sessionSettings().forwardsRoots(), false, self);
    long beganNanos = System.nanoTime();
    Counts counts = bus.telemetry().counts();
    return Standby.start(context, containerRecipe, options, bus)
        .onSuccess(started -> counts.containerStart().add(System.nanoTime() - beganNanos))
        .onSuccess(started -> counts.count(Event.CONTAINER_START, "started"))
        .onFailure(failed -> counts.count(Event.CONTAINER_START, "failed"))
        .onSuccess(standby -> era = standby.isStateless() ? Era.STATELESS : Era.LEGACY)
        .onFailure(failed -> era = next(options.era(), failed));
  }

  private Era next(Era usedEra, Throwable failure) {
    boolean crashedOnProbe =
        usedEra == Era.UNKNOWN
            && failure instanceof BridgeException bridgeFailure
            && bridgeFailure.code() == ErrorCode.UPSTREAM_CRASHED;
    return crashedOnProbe ? Era.LEGACY : config.sessionSettings().era();
  }
}
