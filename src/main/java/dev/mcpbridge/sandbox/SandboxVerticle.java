package dev.mcpbridge.sandbox;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.Question;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.config.Sandbox;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.WaitingCalls;
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
final class SandboxVerticle extends VerticleBase implements Standby.News {
  private final Bus bus;
  private final Terms terms;
  private final Part part;
  private final ServerConfig config;
  private final Standby.Recipe recipe;
  private final BridgeIdentity self;
  private final LongSupplier drainMillis;
  private final MemoryBudget memory;
  private Era era;
  private Pool pool;

  /**
   * @param mayAct whether this bridge may begin anything at this moment
   * @param severalCallers whether callers can be told apart, at this moment
   */
  record Terms(BooleanSupplier mayAct, BooleanSupplier severalCallers) {}

  SandboxVerticle(
      Bus bus,
      Terms terms,
      Part part,
      ServerConfig config,
      Containers containers,
      StdioTransport.Limits limits,
      BridgeIdentity self,
      LongSupplier drainMillis) {
    this.bus = bus;
    this.terms = terms;
    this.part = part;
    this.config = config;
    this.self = self;
    this.drainMillis = drainMillis;
    this.memory = limits.memory();
    this.era = config.conversation().era();
    this.recipe =
        new Standby.Recipe(containers, config.sandbox().container(), config.id().name(), limits);
  }

  @Override
  public Future<?> start() {
    int maxQueued = config.supervision().maxQueued();
    Sandbox sizes = sizes();
    WaitingCalls waiting =
        new WaitingCalls(vertx, config.id(), maxQueued, sizes.max(), terms.severalCallers());
    pool = new Pool(vertx, config.id(), sizes, waiting, this::mayBegin, this::standby);
    bus.serve(Addresses.waiting(part), asked -> Future.succeededFuture((long) waiting.size()));
    bus.serve(Addresses.isolated(config.id()).at(part), call -> pool.run(admitted(call)));
    bus.subscribe(Addresses.cancel(config.id()), c -> pool.cancel(c.callId(), c.reason()));
    pool.open();
    return Future.succeededFuture();
  }

  private boolean mayBegin() {
    return terms.mayAct().getAsBoolean() && !memory.isHigh();
  }

  private Call admitted(Call call) {
    return config.conversation().takesRoots() ? call : call.withoutRoots();
  }

  /** Where no call is known to be at level 3 none stands ready. */
  private Sandbox sizes() {
    return config.risk().mention(RiskLevel.HIGH) ? config.sandbox() : config.sandbox().onDemand();
  }

  @Override
  public Future<?> stop() {
    return pool.close(drainMillis.getAsLong());
  }

  @Override
  public void callEvent(Call call, String name, JsonSlice params) {
    bus.publish(Addresses.callEvents(call.id()), new CallEvent(name, params));
  }

  @Override
  public Future<JsonSlice> question(Call call, String method, JsonSlice params) {
    Question question = new Question(method, params);
    return question.isFor(call.envelope())
        ? bus.request(Addresses.question(call.id()), question)
        : Future.failedFuture(
            new BridgeException(
                ErrorCode.METHOD_NOT_FOUND, "The client of this call does not offer " + method));
  }

  /** The era is asked once; a server that died of the question is not asked again. */
  private Future<Standby> standby() {
    Handshake.Terms greeting =
        new Handshake.Terms(era, config.conversation().takesRoots(), false, self);
    return Standby.start(context, recipe, greeting, this)
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
