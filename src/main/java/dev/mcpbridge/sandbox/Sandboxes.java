package dev.mcpbridge.sandbox;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.SandboxConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Everything about containers that the rest of the bridge needs: transports into them, a verticle
 * for each server whose calls run in containers of their own, and the broom.
 */
public final class Sandboxes {
  private static final Logger LOG = System.getLogger(Sandboxes.class.getName());
  private static final long SWEEP_MILLIS = 60_000;

  private final Vertx vertx;
  private final Context own;
  private final Bus bus;
  private final BooleanSupplier mayAct;
  private final BooleanSupplier severalCallers;
  private final ContainerEngine containerEngine;
  private final Containers containers;
  private final BridgeIdentity self;
  private boolean isUsed;

  /**
   * @param mayAct whether this bridge may begin anything at this moment
   * @param severalCallers whether callers can be told apart, at this moment
   */
  public Sandboxes(
      Vertx vertx,
      Bus bus,
      BooleanSupplier mayAct,
      BooleanSupplier severalCallers,
      SandboxConfig config,
      BridgeIdentity self) {
    this.severalCallers = severalCallers;
    this.mayAct = mayAct;
    this.vertx = vertx;
    this.own = vertx.getOrCreateContext();
    this.bus = bus;
    this.self = self;
    this.containerEngine = new ContainerEngine(vertx, config.engine(), Labels.own());
    this.containers = new Containers(vertx, containerEngine);
  }

  /** Opens transports to servers in containers. */
  public TransportFactory opener() {
    return (context, upstreamTarget, name, limits, listener) -> {
      use();
      return containers.open(context, upstreamTarget, name, limits, listener);
    };
  }

  /**
   * The verticle for a part of a server whose calls at level 3 have a container each; none for
   * others.
   */
  public Optional<VerticleBase> of(
      InstanceId instanceId,
      ServerConfig server,
      StdioTransport.Limits limits,
      LongSupplier drainMillis) {
    if (server.sandboxPool() == null
        || !server.sandboxPool().isPerCall()
        || server.refusal() != null) {
      return Optional.empty();
    }
    use();
    return Optional.of(
        new SandboxVerticle(
            bus,
            new SandboxVerticle.LeaseConditions(mayAct, severalCallers),
            instanceId,
            server,
            containers,
            limits,
            self,
            drainMillis));
  }

  /**
   * Removes what a dead bridge has left behind, now and every minute; a bridge without containers
   * has no engine to ask.
   */
  private void use() {
    if (!isUsed) {
      isUsed = true;
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
        .onSuccess(removed -> report(removed.<Boolean>list().stream().filter(was -> was).count()));
  }

  /** An engine may go on listing one that it no longer has; what fails now is tried again. */
  private Future<Boolean> remove(String orphan) {
    return containerEngine.remove(orphan).otherwise(false);
  }

  private static void report(long removed) {
    if (removed > 0) {
      LOG.log(
          Level.WARNING, "removed {0} containers that a killed bridge had left behind", removed);
    }
  }
}
