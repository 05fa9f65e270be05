package dev.mcpbridge.model;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The state of an upstream process or connection. A transition is a method of the states that allow
 * it; there are no other transitions.
 *
 * <pre>
 * Stopped → Starting → Ready ⇄ Degraded
 *              ↓  ↑       ↓        ↓
 *              Failed ←───┴────────┘      any → Draining → Stopped
 *              NeedsConsent ⇄ Starting
 * </pre>
 */
public sealed interface ServerState {

  /** The states in the order in which the overall state of several instances is chosen. */
  List<Class<? extends ServerState>> ORDER =
      List.of(
          Degraded.class,
          Ready.class,
          Starting.class,
          NeedsConsent.class,
          Failed.class,
          Draining.class,
          Stopped.class,
          Refused.class);

  /** The value in the API: the name of the state, {@code failed} for a refused server. */
  default String apiName() {
    return this instanceof Refused
        ? "failed"
        : this instanceof NeedsConsent
            ? "needs_consent"
            : getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }

  default boolean takesCalls() {
    return this instanceof Ready || this instanceof Degraded;
  }

  /** A state with a process, which can be lost or stopped. */
  sealed interface Alive extends ServerState {

    /**
     * @param attempts consecutive failures, including this one
     * @param nextTryMillis time of the next attempt, wall clock
     */
    default Failed lost(ErrorCode code, String reason, int attempts, long nextTryMillis) {
      return new Failed(code, reason, attempts, nextTryMillis);
    }

    /** The server has refused a request for lack of a user's grant. */
    default NeedsConsent refused(BridgeException failure) {
      return new NeedsConsent(failure.getMessage(), (String) failure.members().get("scope"));
    }

    default Draining drain() {
      return new Draining();
    }
  }

  /**
   * Launched; the handshake or the discovery is in progress.
   *
   * @param attempt consecutive failures before this start
   */
  record Starting(int attempt) implements Alive {
    public Ready ready() {
      return new Ready();
    }
  }

  /** Serving. */
  record Ready() implements Alive {
    public Degraded missedHeartbeat() {
      return unreachable("a heartbeat was missed");
    }

    public Degraded unreachable(String reason) {
      return new Degraded(reason);
    }
  }

  /**
   * Serving, but a heartbeat was missed, its API is unreachable, or some of several instances are
   * down.
   */
  record Degraded(String reason) implements Alive {
    public Ready recovered() {
      return new Ready();
    }
  }

  /**
   * Down and waiting for its next attempt.
   *
   * @param code code of the failure
   * @param attempts consecutive failures
   * @param nextTryMillis time of the next attempt, milliseconds since the epoch
   */
  record Failed(ErrorCode code, String reason, int attempts, long nextTryMillis)
      implements ServerState {
    public Starting retry() {
      return new Starting(attempts);
    }

    public Draining drain() {
      return new Draining();
    }
  }

  /**
   * The server requires a user's grant, which is missing. It is started again by a grant, and by
   * each call.
   *
   * @param scope what the server asks for; null if unknown
   */
  record NeedsConsent(String reason, String scope) implements ServerState {
    public Starting retry() {
      return new Starting(0);
    }

    public Draining drain() {
      return new Draining();
    }

    /** The failure of a call that needs the server. */
    public BridgeException failure() {
      BridgeException failure = new BridgeException(ErrorCode.CONSENT_REQUIRED, reason);
      return scope == null ? failure : failure.with("scope", scope);
    }
  }

  /** Being stopped: takes no new calls, processes are ending. */
  record Draining() implements ServerState {}

  /** Not running and not needed: lazy and not yet used, or removed. */
  record Stopped() implements ServerState {
    public Starting start() {
      return new Starting(0);
    }
  }

  /**
   * Never started, because its configuration forbids it. Only a new configuration can change this.
   */
  record Refused(ErrorCode code, String reason) implements ServerState {}

  /** The overall state of a server with several instances. */
  static ServerState of(List<ServerState> instances) {
    long serving = instances.stream().filter(ServerState::takesCalls).count();
    if (serving > 0 && serving < instances.size()) {
      return new Degraded(serving + " of " + instances.size() + " instances are up");
    }
    return instances.stream()
        .min(Comparator.comparingInt(state -> ORDER.indexOf(state.getClass())))
        .orElseGet(Stopped::new);
  }
}
