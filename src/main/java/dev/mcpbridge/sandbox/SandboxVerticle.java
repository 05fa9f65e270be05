package dev.mcpbridge.sandbox;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.SandboxPool;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.CallQueue;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Era;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.session.Handshake;
import dev.mcpbridge.transport.StdioTransport;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Serves the calls of one server that run in containers of their own, and takes the containers with
 * it when it goes.
 */
final class SandboxVerticle extends VerticleBase implements Standby.Listener {
  private final Bus bus;
  private final LeaseConditions leaseConditions;
  private final InstanceId instanceId;
  private final ServerConfig config;
  private final Standby.ContainerRecipe containerRecipe;
  private final BridgeIdentity self;
  private final LongSupplier drainMillis;
  private final MemoryBudget memory;
  private Era era;
  private StandbyPool standbyPool;

  /**
   * @param mayAct whether this bridge may begin anything at this moment
   * @param severalCallers whether callers can be told apart, at this moment
   */
  record LeaseConditions(BooleanSupplier mayAct, BooleanSupplier severalCallers) {}

  SandboxVerticle(
      Bus bus,
      LeaseConditions leaseConditions,
      InstanceId instanceId,
      ServerConfig config,
      Containers containers,
      StdioTransport.Limits limits,
      BridgeIdentity self,
      LongSupplier drainMillis) {
    this.bus = bus;
    this.leaseConditions = leaseConditions;
    this.instanceId = instanceId;
    this.config = config;
    this.self = self;
    this.drainMillis = drainMillis;
    this.memory = limits.memory();
    this.era = config.conversation().era();
    this.containerRecipe =
        new Standby.ContainerRecipe(
            containers, config.sandboxPool().container(), config.id().name(), limits);
  }

  @Override
  public Future<?> start() {
    int maxQueued = config.supervision().maxQueued();
    SandboxPool sizes = sizes();
    CallQueue waiting =
        new CallQueue(vertx, config.id(), maxQueued, sizes.max(), leaseConditions.severalCallers());
    standbyPool =
        new StandbyPool(vertx, config.id(), sizes, waiting, this::mayBegin, this::standby);
    bus.serve(
        Addresses.waiting(instanceId), asked -> Future.succeededFuture((long) waiting.size()));
    bus.serve(
        Addresses.isolated(config.id()).at(instanceId), call -> standbyPool.run(admitted(call)));
    bus.subscribe(Addresses.cancel(config.id()), c -> standbyPool.cancel(c.callId(), c.reason()));
    standbyPool.open();
    return Future.succeededFuture();
  }

  private boolean mayBegin() {
    return leaseConditions.mayAct().getAsBoolean() && !memory.isHigh();
  }

  private Call admitted(Call call) {
    return config.conversation().takesRoots() ? call : call.withoutRoots();
  }

  /** Where no call is known to be at level 3 none stands ready. */
  private SandboxPool sizes() {
    return config.risk().mention(RiskLevel.HIGH)
        ? config.sandboxPool()
        : config.sandboxPool().onDemand();
  }

  @Override
  public Future<?> stop() {
    return standbyPool.close(drainMillis.getAsLong());
  }

  @Override
  public void callEvent(Call call, String name, JsonSlice params) {
    bus.publish(Addresses.callEvents(call.id()), new CallEvent(name, params));
  }

  @Override
  public Future<JsonSlice> question(Call call, String method, JsonSlice params) {
    ServerRequest serverRequest = new ServerRequest(method, params);
    return serverRequest.isFor(call.envelope())
        ? bus.request(Addresses.question(call.id()), serverRequest)
        : Future.failedFuture(
            new BridgeException(
                ErrorCode.METHOD_NOT_FOUND, "The client of this call does not offer " + method));
  }

  /** The era is asked once; a server that died of the question is not asked again. */
  private Future<Standby> standby() {
    Handshake.HandshakeOptions greeting =
        new Handshake.HandshakeOptions(era, config.conversation().takesRoots(), false, self);
    return Standby.start(context, containerRecipe, greeting, this)
        .onSuccess(found -> era = found.isStateless() ? Era.STATELESS : Era.LEGACY)
        .onFailure(failed -> era = next(greeting.era(), failed));
  }

  private Era next(Era tried, Throwable failure) {
    boolean diedOfQuestion =
        tried == Era.UNKNOWN
            && failure instanceof BridgeException known
            && known.code() == ErrorCode.UPSTREAM_CRASHED;
    return diedOfQuestion ? Era.LEGACY : config.conversation().era();
  }
}
