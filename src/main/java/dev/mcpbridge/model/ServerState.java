package dev.mcpbridge.model;

import dev.mcpbridge.error.ErrorCode;
import java.util.List;

/**
 * The state of an upstream process or connection. A transition is a method of the states that allow
 * it; there are no other transitions.
 *
 * <pre>
 * Stopped → Starting → Ready ⇄ Degraded
 *              ↓  ↑       ↓        ↓
 *              Failed ←───┴────────┘      any → Draining → Stopped
 * </pre>
 */
public sealed interface ServerState {

  /** The value in the API. */
  String apiName();

  default boolean takesCalls() {
    return false;
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

    @Override
    public String apiName() {
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
    public String apiName() {
      return "ready";
    }

    @Override
    public boolean takesCalls() {
      return true;
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

    @Override
    public String apiName() {
      return "degraded";
    }

    @Override
    public boolean takesCalls() {
      return true;
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

    @Override
    public String apiName() {
      return "failed";
    }
  }

  /** Being stopped: takes no new calls, processes are ending. */
  record Draining() implements ServerState {
    @Override
    public String apiName() {
      return "draining";
    }
  }

  /** Not running and not needed: lazy and not yet used, or removed. */
  record Stopped() implements ServerState {
    public Starting start() {
      return new Starting(0);
    }

    @Override
    public String apiName() {
      return "stopped";
    }
  }

  /**
   * Never started, because its configuration forbids it. Only a new configuration can change this.
   */
  record Refused(ErrorCode code, String reason) implements ServerState {
    @Override
    public String apiName() {
      return "failed";
    }
  }

  /** The overall state of a server with several instances. */
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
