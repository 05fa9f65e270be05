package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.config.RemoteTarget;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerState.Degraded;
import dev.mcpbridge.model.ServerState.Failed;
import dev.mcpbridge.model.ServerState.Ready;
import dev.mcpbridge.model.ServerState.Starting;
import dev.mcpbridge.model.ServerState.Stopped;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Era;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.session.Exchange;
import dev.mcpbridge.session.Handshake;
import dev.mcpbridge.session.Negotiated;
import dev.mcpbridge.session.Session;
import dev.mcpbridge.session.SessionListener;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * One process of a server, kept alive: start, handshake, heartbeat, and a new try with backoff when
 * it is lost. Its owner hears of each change and dispatches calls.
 *
 * <p>Each start is a {@link InstanceRun}; what an earlier life still has to say is not heard any
 * more. After {@link #stop} nothing starts again by itself.
 */
final class Instance {
  private static final JsonSlice EVERY_LIST =
      JsonSlice.of(
          "{\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,"
              + "\"resourcesListChanged\":true}}");

  private final ServerConfig config;
  private final Context context;
  private final TransportFactory transportFactory;
  private final StdioTransport.Limits limits;
  private final Listener listener;
  private final RestartPolicy policy;
  private final BridgeIdentity self;
  private ServerState state = new Stopped();
  private InstanceRun instanceRun;
  private Future<Void> gone = Future.succeededFuture();
  private long retryTimer = -1;
  private int restarts;
  private int inFlight;
  private boolean retired;

  /** Whether the process ended while it was asked in the newer era, the last time it started. */
  private boolean diedOfQuestion;

  /** Who keeps the instances; called on the context. */
  interface Listener {
    /** The state, and with it perhaps the number of calls that can be taken, is another. */
    void changed(Instance instance);

    /** The handshake is done; the instance is ready when the returned future is. */
    Future<Void> discovered(Session session, Negotiated negotiated, long deadlineNanos);

    void notified(Instance instance, RpcMessage notification);

    /** The server tells of changes from now on: what was listed before may be old already. */
    void heardNothingYet(Instance instance);

    /** The server asks something of a client. */
    Future<JsonSlice> asked(Instance instance, ServerRequest serverRequest);

    void lost(int garbageLines, int droppedMessages);
  }

  /**
   * What is the same for all instances of a server.
   *
   * @param mayAct whether this node may begin a call of it at this moment
   * @param severalCallers whether callers can be told apart, at this moment
   */
  record InstanceEnvironment(
      Context context,
      TransportFactory transportFactory,
      StdioTransport.Limits limits,
      BridgeIdentity self,
      InstanceLocation instanceLocation,
      BooleanSupplier mayAct,
      BooleanSupplier severalCallers) {

    /** Whether a call may be begun at this moment, and its answer would be kept. */
    boolean mayBegin() {
      return mayAct.getAsBoolean() && !limits.memory().isHigh();
    }
  }

  Instance(
      ServerConfig config,
      InstanceEnvironment instanceEnvironment,
      RestartPolicy policy,
      Listener listener) {
    this.config = config;
    this.context = instanceEnvironment.context();
    this.transportFactory = instanceEnvironment.transportFactory();
    this.limits = instanceEnvironment.limits();
    this.self = instanceEnvironment.self();
    this.policy = policy;
    this.listener = listener;
  }

  ServerState state() {
    return state;
  }

  int restarts() {
    return restarts;
  }

  int inFlight() {
    return inFlight;
  }

  OptionalLong pid() {
    return instanceRun == null ? OptionalLong.empty() : instanceRun.pid();
  }

  /** What its last process said on stderr, for administrators; empty for nothing. */
  String lastWords() {
    return instanceRun != null && instanceRun.transport.succeeded()
        ? instanceRun.transport.result().lastWords()
        : "";
  }

  /** Calls hear of the end of a session before its instance does: there is no room any more. */
  boolean hasRoom() {
    return state.takesCalls()
        && !instanceRun.session.isOver()
        && inFlight < config.supervision().maxInFlight();
  }

  /** Starts what is stopped, and tries again at once what waits for its next try. */
  void start() {
    if (retired) {
      return;
    }
    if (state instanceof Stopped stopped) {
      begin(stopped.start());
    } else if (state instanceof Failed failed) {
      vertx().cancelTimer(retryTimer);
      restarts++;
      begin(failed.retry());
    }
  }

  /** Takes no new calls, and does not start again; calls in flight go on. */
  void drain() {
    vertx().cancelTimer(retryTimer);
    if (state instanceof ServerState.Alive alive) {
      enter(alive.drain());
    } else if (state instanceof Failed failed) {
      enter(failed.drain());
    }
  }

  /** Ends the process and never starts another; completes when its whole tree is gone. */
  Future<Void> retire() {
    retired = true;
    return stop();
  }

  /** Ends the process; completes when its whole tree is gone, whoever has wanted that first. */
  Future<Void> stop() {
    vertx().cancelTimer(retryTimer);
    if (instanceRun != null) {
      InstanceRun last = instanceRun;
      instanceRun = null;
      drain();
      gone = last.end().onComplete(done -> enter(new Stopped()));
    }
    return gone;
  }

  /** Another process in place of this one. */
  Future<Void> replace() {
    return stop()
        .onSuccess(
            gone -> {
              restarts++;
              start();
            });
  }

  Exchange send(Exchange.Request request) {
    inFlight++;
    InstanceRun serving = instanceRun;
    Exchange exchange = serving.session.send(request);
    exchange
        .answer()
        .onComplete(
            answer -> inFlight--,
            failure -> {
              inFlight--;
              serving.unanswered(failure);
            });
    return exchange;
  }

  void cancel(Exchange exchange, BridgeException why) {
    if (instanceRun != null) {
      instanceRun.session.cancel(exchange, why);
    }
  }

  Session session() {
    return instanceRun == null ? null : instanceRun.session;
  }

  /** A transport may fail before it returns, and that is a failure of a start, too. */
  private void begin(Starting starting) {
    state = starting;
    instanceRun = new InstanceRun(starting);
    instanceRun.open();
    listener.changed(this);
  }

  private void enter(ServerState next) {
    state = next;
    listener.changed(this);
  }

  private Vertx vertx() {
    return context.owner();
  }

  /** From one start to the end of its process. */
  private final class InstanceRun implements SessionListener {
    private final Starting starting;
    private final long bornNanos = System.nanoTime();
    private final Session session = new Session(context, config.id().name(), this);
    private final Heartbeat heartbeat =
        new Heartbeat(vertx(), config.supervision().heartbeat(), session, this::heartbeat);
    private Future<Transport> transport;
    private Session.Subscription lists;
    private boolean over;

    InstanceRun(Starting starting) {
      this.starting = starting;
    }

    void open() {
      long timeout = config.supervision().startTimeout();
      transport =
          transportFactory.open(
              context, config.upstreamTarget(), config.id().name(), limits, session);
      transport
          .compose(opened -> Handshake.perform(session.over(opened), terms(), timeout))
          .compose(
              negotiated ->
                  listener.discovered(session, negotiated, deadlineNanos()).map(negotiated))
          .onSuccess(this::serve)
          .onFailure(failure -> fail(code(failure), failure.getMessage()));
    }

    /** Understanding the document of an API took nothing of the time of its start. */
    private long deadlineNanos() {
      long patience = Handshake.patienceMillis(config.supervision().startTimeout());
      long from = isAdapted() ? System.nanoTime() : bornNanos;
      return from + TimeUnit.MILLISECONDS.toNanos(patience);
    }

    OptionalLong pid() {
      return transport.succeeded() ? transport.result().pid() : OptionalLong.empty();
    }

    Future<Void> end() {
      over = true;
      heartbeat.stop();
      return transport.compose(Transport::close).otherwiseEmpty();
    }

    private Handshake.HandshakeOptions terms() {
      return new Handshake.HandshakeOptions(
          era(),
          config.conversation().takesRoots(),
          config.upstreamTarget() instanceof RemoteTarget,
          self);
    }

    /** A server that died of the question is not asked again at its next start. */
    private Era era() {
      Era era = config.conversation().era();
      return era == Era.UNKNOWN && diedOfQuestion ? Era.LEGACY : era;
    }

    private void serve(Negotiated negotiated) {
      if (over || !(state instanceof Starting)) {
        return;
      }
      if (session.isStateless()) {
        lists = session.listen(EVERY_LIST);
      }
      String level = config.conversation().logLevel();
      if (level != null && !session.isStateless() && negotiated.offers("logging")) {
        JsonSlice params =
            new JsonWriter().beginObject().member("level", level).endObject().toSlice();
        session.request(McpMethod.SET_LEVEL, params, config.supervision().startTimeout());
      }
      heartbeat.start();
      enter(starting.ready());
    }

    private void unanswered(Throwable failure) {
      if (code(failure) == ErrorCode.DEADLINE_EXCEEDED) {
        heartbeat.deadlinePassed();
      }
    }

    private void heartbeat(Heartbeat.Pulse pulse, String wrong) {
      if (over) {
        return;
      }
      switch (pulse) {
        case MISSED -> {
          if (state instanceof Ready ready) {
            enter(isAdapted() ? ready.unreachable(wrong) : ready.missedHeartbeat());
          }
        }
        case BACK -> {
          if (state instanceof Degraded degraded) {
            enter(degraded.recovered());
          }
        }
        case DEAD -> {
          if (!isAdapted()) {
            fail(ErrorCode.SERVER_UNAVAILABLE, "it does not answer heartbeats");
          }
        }
      }
    }

    /** What cannot be reached stays degraded, and is asked again with each heartbeat. */
    private boolean isAdapted() {
      return config.upstreamTarget().isAdapted();
    }

    @Override
    public void notified(RpcMessage notification) {
      if (!over) {
        listener.notified(Instance.this, notification);
      }
    }

    /** Also after a stream that broke: the process behind it may be another one. */
    @Override
    public void agreed(long listening) {
      if (!over && lists != null && lists.id() == listening) {
        listener.heardNothingYet(Instance.this);
      }
    }

    @Override
    public Future<JsonSlice> asked(String method, JsonSlice params) {
      return listener.asked(Instance.this, new ServerRequest(method, params));
    }

    @Override
    public void lost(int garbageLines, int droppedMessages) {
      listener.lost(garbageLines, droppedMessages);
    }

    @Override
    public void closed(String reason) {
      if (!(state instanceof Starting)) {
        fail(ErrorCode.UPSTREAM_CRASHED, reason);
      }
    }

    private ErrorCode code(Throwable failure) {
      return failure instanceof BridgeException known ? known.code() : ErrorCode.START_FAILED;
    }

    /** Ends this life and arranges the next one; the old tree is gone before it begins. */
    private void fail(ErrorCode code, String reason) {
      if (over || !(state instanceof ServerState.Alive alive)) {
        return;
      }
      long lived = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - bornNanos);
      int attempt = policy.attemptAfter(starting.attempt(), lived);
      diedOfQuestion =
          state instanceof Starting && code == ErrorCode.UPSTREAM_CRASHED && !diedOfQuestion;
      long delay = policy.delayMillis(attempt);
      enter(alive.lost(code, reason, attempt + 1, System.currentTimeMillis() + delay));
      end().onComplete(gone -> retryIn(delay));
    }

    private void retryIn(long delay) {
      if (instanceRun == this && state instanceof Failed) {
        retryTimer = vertx().setTimer(delay, t -> start());
      }
    }
  }
}
