package dev.mcpbridge.model;

import dev.mcpbridge.error.ErrorCode;
import java.util.List;

/**
 * The life of an upstream process or connection. A transition is a method of the states that allow
 * it; what is not here cannot happen.
 *
 * <pre>
 * Stopped → Starting → Ready ⇄ Degraded
 *              ↓  ↑       ↓        ↓
 *              Failed ←───┴────────┘      any → Draining → Stopped
 * </pre>
 */
public sealed interface ServerState {

  /** The word that the API shows. */
  String word();

  default boolean takesCalls() {
    return false;
  }

  /** A state with a process behind it: it can be lost, and it can be ended. */
  sealed interface Alive extends ServerState {

    /**
     * @param attempts failures in a row, this one included
     * @param nextTryMillis wall clock
     */
    default Failed lost(ErrorCode code, String reason, int attempts, long nextTryMillis) {
      return new Failed(code, reason, attempts, nextTryMillis);
    }

    default Draining drain() {
      return new Draining();
    }
  }

  /**
   * Launched; the handshake or the discovery is not over.
   *
   * @param attempt failures in a row before this start
   */
  record Starting(int attempt) implements Alive {
    public Ready ready() {
      return new Ready();
    }

    @Override
    public String word() {
      return "starting";
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

    @Override
    public String word() {
      return "ready";
    }

    @Override
    public boolean takesCalls() {
      return true;
    }
  }

  /**
   * Serving, though a heartbeat went unanswered, what it calls cannot be reached, or some of
   * several instances are down.
   */
  record Degraded(String reason) implements Alive {
    public Ready recovered() {
      return new Ready();
    }

    @Override
    public String word() {
      return "degraded";
    }

    @Override
    public boolean takesCalls() {
      return true;
    }
  }

  /**
   * Down, and waiting for its next try.
   *
   * @param code of the failure that it is down for
   * @param attempts failures in a row
   * @param nextTryMillis wall clock, milliseconds since the epoch
   */
  record Failed(ErrorCode code, String reason, int attempts, long nextTryMillis)
      implements ServerState {
    public Starting retry() {
      return new Starting(attempts);
    }

    public Draining drain() {
      return new Draining();
    }

    @Override
    public String word() {
      return "failed";
    }
  }

  /** Being stopped: no new calls, processes on their way out. */
  record Draining() implements ServerState {
    @Override
    public String word() {
      return "draining";
    }
  }

  /** Not running, and nobody wants it to: lazy and not yet needed, or removed. */
  record Stopped() implements ServerState {
    public Starting start() {
      return new Starting(0);
    }

    @Override
    public String word() {
      return "stopped";
    }
  }

  /**
   * Never started, because its configuration forbids it; a new configuration is the only way out.
   */
  record Refused(ErrorCode code, String reason) implements ServerState {
    @Override
    public String word() {
      return "failed";
    }
  }

  /** One state for a server of several instances. */
  static ServerState of(List<ServerState> instances) {
    long serving = instances.stream().filter(ServerState::takesCalls).count();
    if (serving > 0 && serving < instances.size()) {
      return new Degraded(serving + " of " + instances.size() + " instances are up");
    }
    return instances.stream().min((a, b) -> rank(a) - rank(b)).orElseGet(Stopped::new);
  }

  private static int rank(ServerState state) {
    if (state instanceof Degraded) {
      return 0;
    }
    if (state instanceof Ready) {
      return 1;
    }
    if (state instanceof Starting) {
      return 2;
    }
    if (state instanceof Failed) {
      return 3;
    }
    return state instanceof Draining ? 4 : 5;
  }
}
