package dev.mcpbridge.sandbox;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.SandboxConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.quota.CallerLimits;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Entry point to containers for the rest of the bridge: transports to them, a verticle for each
 * server whose calls run in a container each, and the removal of orphaned containers.
 */
public final class Sandboxes {
  private static final Logger LOG = System.getLogger(Sandboxes.class.getName());
  private static final long SWEEP_MILLIS = 60_000;

  private final Vertx vertx;
  private final Context own;
  private final Bus bus;
  private final BooleanSupplier mayAct;
  private final CallerLimits callerLimits;
  private final ContainerEngine containerEngine;
  private final Containers containers;
  private final BridgeIdentity self;
  private final AtomicBoolean isSweeping = new AtomicBoolean();

  /**
   * @param mayAct whether this bridge may start calls at this moment
   * @param callerLimits what bounds the calls of each caller
   */
  public Sandboxes(
      Vertx vertx,
      Bus bus,
      BooleanSupplier mayAct,
      CallerLimits callerLimits,
      SandboxConfig config,
      BridgeIdentity self) {
    this.callerLimits = callerLimits;
    this.mayAct = mayAct;
    this.vertx = vertx;
    this.own = vertx.getOrCreateContext();
    this.bus = bus;
    this.self = self;
    this.containerEngine = new ContainerEngine(vertx, config.engine(), Labels.own());
    this.containers = new Containers(vertx, containerEngine);
  }

  /** Returns a factory of transports to servers in containers. */
  public TransportFactory opener() {
    return (context, upstreamTarget, name, limits, log, listener) -> {
      startSweeping();
      return containers
          .start((ContainerTarget) upstreamTarget, name, limits, log, listener)
          .map(transport -> transport);
    };
  }

  /**
   * The verticle for an instance of a server whose calls at level 3 run in a container each; empty
   * for other servers.
   */
  public Optional<VerticleBase> of(
      InstanceId instanceId,
      ServerConfig server,
      StdioTransport.Limits limits,
      ServerLog log,
      LongSupplier drainMillis) {
    if (server.sandboxPool() == null
        || !server.sandboxPool().isPerCall()
        || server.refusal() != null) {
      return Optional.empty();
    }
    startSweeping();
    return Optional.of(
        new SandboxVerticle(
            bus,
            new SandboxVerticle.LeaseConditions(mayAct, callerLimits),
            instanceId,
            server,
            new Standby.ContainerRecipe(
                containers, server.sandboxPool().container(), server.id().name(), limits, log),
            self,
            drainMillis));
  }

  /**
   * Removes orphaned containers of dead bridges, now and every minute. Called on first use, since a
   * bridge without containers may have no engine.
   */
  private void startSweeping() {
    if (isSweeping.compareAndSet(false, true)) {
      own.runOnContext(
          v -> {
            sweep();
            vertx.setPeriodic(SWEEP_MILLIS, t -> sweep());
          });
    }
  }

  private void sweep() {
    containerEngine
        .orphans()
        .compose(orphans -> Future.join(orphans.stream().map(this::remove).toList()))
        .onSuccess(
            results -> report(results.<Boolean>list().stream().filter(removed -> removed).count()));
  }

  /** Ignores failures, which are retried: an engine may list a container that no longer exists. */
  private Future<Boolean> remove(String orphan) {
    return containerEngine.remove(orphan).otherwise(false);
  }

  private static void report(long removed) {
    if (removed > 0) {
      LOG.log(Level.WARNING, "orphaned containers removed: count={0}", removed);
    }
  }
}
