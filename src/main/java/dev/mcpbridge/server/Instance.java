package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.config.RemoteTarget;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerState.Degraded;
import dev.mcpbridge.model.ServerState.Failed;
import dev.mcpbridge.model.ServerState.NeedsConsent;
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
import dev.mcpbridge.trace.Telemetry;
import dev.mcpbridge.transport.RequestAuthorization;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportFactory;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Keeps one process of a server alive: start, handshake, heartbeat, and a restart with backoff when
 * it is lost. The listener is notified of each change and dispatches the calls.
 *
 * <p>Each start creates an {@link InstanceRun}; messages of an earlier run are ignored. After
 * {@link #stop} it does not start again by itself.
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
  private final ServerLog log;
  private final Listener listener;
  private final RestartPolicy policy;
  private final BridgeIdentity self;
  private ServerState state = new Stopped();
  private InstanceRun instanceRun;
  private Future<Void> termination = Future.succeededFuture();
  private long retryTimer = -1;
  private int restarts;
  private int inFlight;
  private boolean retired;

  /** Whether the process exited during the handshake of the newer era at its last start. */
  private boolean exitedInHandshake;

  /** Receives the events of an instance. Called on the context thread. */
  interface Listener {
    /** The state has changed, and possibly the number of calls that can be taken. */
    void changed(Instance instance);

    /** The handshake is done. The instance becomes ready when the returned future completes. */
    Future<Void> discovered(Session session, Negotiated negotiated, long deadlineNanos);

    void notified(Instance instance, RpcMessage notification);

    /** Change notifications are active from now on. Lists that were read before may be stale. */
    void listsMayBeStale(Instance instance);

    /** The server sent a request for a client. Returns the result of the client. */
    Future<JsonSlice> serverRequest(Instance instance, ServerRequest serverRequest);

    void lost(int garbageLines, int droppedMessages);
  }

  /** What all instances of a server have in common. */
  record InstanceEnvironment(
      Context context,
      TransportFactory transportFactory,
      StdioTransport.Limits limits,
      BridgeIdentity self,
      ServerLog log,
      ServerVerticle.Lease lease,
      Telemetry telemetry) {

    /** Whether a call may be started at this moment and there is memory for its result. */
    boolean mayStartCall() {
      return lease.holdsLease().getAsBoolean() && !limits.memory().isHigh();
    }

    /** For instances whose connection has a credential. */
    InstanceEnvironment authorized(RequestAuthorization authorization) {
      return new InstanceEnvironment(
          context, transportFactory.authorized(authorization), limits, self, log, lease, telemetry);
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
    this.log = instanceEnvironment.log();
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

  /** The last output of the process on stderr, for administrators; empty without output. */
  String lastStderrLine() {
    return instanceRun != null && instanceRun.transport.succeeded()
        ? instanceRun.transport.result().lastStderrLine()
        : "";
  }

  /** Also checks the session: calls fail at its end before the instance learns of it. */
  boolean hasRoom() {
    return state.takesCalls()
        && !instanceRun.session.isClosed()
        && inFlight < config.supervision().maxInFlight();
  }

  /** Starts an instance that is down, a failed one at once instead of after its delay. */
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
    } else if (state instanceof NeedsConsent refused) {
      begin(refused.retry());
    }
  }

  /** Takes no new calls and does not start again. Calls in flight continue. */
  void drain() {
    vertx().cancelTimer(retryTimer);
    if (state instanceof ServerState.Alive alive) {
      enter(alive.drain());
    } else if (state instanceof Failed failed) {
      enter(failed.drain());
    } else if (state instanceof NeedsConsent refused) {
      enter(refused.drain());
    }
  }

  /** Ends the process for good. Completes when its whole process tree has ended. */
  Future<Void> retire() {
    retired = true;
    return stop();
  }

  /** Ends the process. Completes when its whole process tree has ended, also for repeated calls. */
  Future<Void> stop() {
    vertx().cancelTimer(retryTimer);
    if (instanceRun != null) {
      InstanceRun ended = instanceRun;
      instanceRun = null;
      drain();
      termination = ended.end().onComplete(done -> enter(new Stopped()));
    }
    return termination;
  }

  /** Replaces the process by a new one. */
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
    InstanceRun run = instanceRun;
    Exchange exchange = run.session.send(request);
    exchange
        .response()
        .onComplete(
            answer -> inFlight--,
            failure -> {
              inFlight--;
              run.unanswered(failure);
            });
    return exchange;
  }

  void cancel(Exchange exchange, BridgeException reason) {
    if (instanceRun != null) {
      instanceRun.session.cancel(exchange, reason);
    }
  }

  Session session() {
    return instanceRun == null ? null : instanceRun.session;
  }

  /** Starts a run. A transport that fails before {@code open} returns is a failed start, too. */
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

  /** One run of the process, from its start to its end. */
  private final class InstanceRun implements SessionListener {
    private final Starting starting;
    private final long startedNanos = System.nanoTime();
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
              context, config.upstreamTarget(), config.id().name(), limits, log, session);
      transport
          .compose(opened -> Handshake.perform(session.bind(opened), handshakeOptions(), timeout))
          .compose(
              negotiated ->
                  listener.discovered(session, negotiated, deadlineNanos()).map(negotiated))
          .onSuccess(this::serve)
          .onFailure(this::failStart);
    }

    /** Without a user's grant no restart helps. */
    private void failStart(Throwable failure) {
      if (failure instanceof BridgeException refusal
          && refusal.code() == ErrorCode.CONSENT_REQUIRED
          && !over
          && state instanceof ServerState.Alive alive) {
        end();
        enter(alive.refused(refusal));
      } else {
        fail(code(failure), failure.getMessage());
      }
    }

    /**
     * The deadline of discovery. The time to read the document of an adapted API does not count.
     */
    private long deadlineNanos() {
      long patience = Handshake.maxDurationMillis(config.supervision().startTimeout());
      long from = isAdapted() ? System.nanoTime() : startedNanos;
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

    private Handshake.HandshakeOptions handshakeOptions() {
      return new Handshake.HandshakeOptions(
          era(),
          config.sessionSettings().forwardsRoots(),
          config.upstreamTarget() instanceof RemoteTarget,
          self);
    }

    /** The era to try: the older one after an exit during the handshake of the newer one. */
    private Era era() {
      Era era = config.sessionSettings().era();
      return era == Era.UNKNOWN && exitedInHandshake ? Era.LEGACY : era;
    }

    private void serve(Negotiated negotiated) {
      if (over || !(state instanceof Starting)) {
        return;
      }
      if (session.isStateless()) {
        lists = session.subscribe(EVERY_LIST);
      }
      String level = config.sessionSettings().logLevel();
      if (level != null && !session.isStateless() && negotiated.hasCapability("logging")) {
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

    private void heartbeat(Heartbeat.Pulse pulse, String error) {
      if (over) {
        return;
      }
      switch (pulse) {
        case MISSED -> {
          if (state instanceof Ready ready) {
            enter(isAdapted() ? ready.unreachable(error) : ready.missedHeartbeat());
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

    /** An adapted API that is unreachable stays degraded and is probed with each heartbeat. */
    private boolean isAdapted() {
      return config.upstreamTarget().isAdapter();
    }

    @Override
    public void notificationReceived(RpcMessage notification) {
      if (!over) {
        listener.notified(Instance.this, notification);
      }
    }

    /** Called for each new stream, also after a broken one: the process may have changed. */
    @Override
    public void subscriptionAcknowledged(long listening) {
      if (!over && lists != null && lists.id() == listening) {
        listener.listsMayBeStale(Instance.this);
      }
    }

    @Override
    public Future<JsonSlice> requestReceived(String method, JsonSlice params) {
      return listener.serverRequest(Instance.this, new ServerRequest(method, params));
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
      return failure instanceof BridgeException cause ? cause.code() : ErrorCode.START_FAILED;
    }

    /** Ends this run and schedules the next; that starts after the old process tree has ended. */
    private void fail(ErrorCode code, String reason) {
      if (over || !(state instanceof ServerState.Alive alive)) {
        return;
      }
      long uptimeMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
      int attempt = policy.attemptAfter(starting.attempt(), uptimeMillis);
      exitedInHandshake =
          state instanceof Starting && code == ErrorCode.UPSTREAM_CRASHED && !exitedInHandshake;
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
