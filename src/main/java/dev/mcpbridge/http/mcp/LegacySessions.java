package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The sessions of clients with a handshake: bounded, ended when they are not used for long, good
 * only for who opened them and where. An id that is not known allocates nothing. Confined to the
 * HTTP verticle.
 */
final class LegacySessions {
  private static final long SWEEP_MILLIS = 60_000;
  private static final long MAX_KEPT_BYTES = 64L << 20;
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final McpDoor.Foundations on;
  private final EventBudget budget = new EventBudget(MAX_KEPT_BYTES);
  private final Map<String, LegacySession> open = new HashMap<>();

  LegacySessions(McpDoor.Foundations on, CatalogueChanges changes) {
    this.on = on;
    on.vertx().setPeriodic(Math.min(SWEEP_MILLIS, on.idleMillis()), t -> sweep());
    changes.listen(
        (server, methods) -> open.values().forEach(session -> session.changed(server, methods)));
  }

  LegacySession open(LegacySession.Opening opening) {
    if (open.size() >= on.maxSessions()) {
      throw new BridgeException(ErrorCode.OVERLOADED, "Too many sessions are open")
          .withRetryAfter(60_000);
    }
    String id = Handles.next();
    LegacySession session = new LegacySession(on.vertx(), budget, id, opening);
    open.put(id, session);
    return session;
  }

  /**
   * The session that a request names.
   *
   * @throws BridgeException MALFORMED_REQUEST where it names none, SESSION_NOT_FOUND
   */
  LegacySession find(String id, Principal caller, ServerId endpoint) {
    if (id == null) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The header Mcp-Session-Id is missing");
    }
    LegacySession session = open.get(id);
    if (session == null || !session.belongsTo(caller, endpoint)) {
      throw new BridgeException(ErrorCode.SESSION_NOT_FOUND, "No such session, or not any more");
    }
    session.use();
    return session;
  }

  void end(LegacySession session) {
    open.remove(session.id());
    session.end();
    on.bus().publish(Addresses.CONVERSATION_OVER, session.caller().conversation());
  }

  private void sweep() {
    long now = System.nanoTime();
    open.values().forEach(session -> session.forgetStreams(now - KEEP_NANOS));
    long since = now - TimeUnit.MILLISECONDS.toNanos(on.idleMillis());
    List<LegacySession> idle =
        open.values().stream().filter(session -> session.isIdleSince(since)).toList();
    idle.forEach(this::end);
  }
}
