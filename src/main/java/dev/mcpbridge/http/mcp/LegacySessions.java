package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.SessionMessage;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.SessionRecords.SessionRecord;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * The sessions of clients with a handshake: bounded, ended when they are not used for long, good
 * only for who opened them and where. An id that is not known allocates nothing. Confined to the
 * HTTP verticle.
 */
final class LegacySessions {
  private static final int MAX_DEPTH = 1_000;
  private static final long SWEEP_MILLIS = 60_000;
  private static final long MAX_KEPT_BYTES = 64L << 20;
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final McpDoor.Dependencies on;
  private final SessionRecords records;
  private final EventBudget budget = new EventBudget(MAX_KEPT_BYTES);
  private final Map<String, LegacySession> open = new HashMap<>();
  private BiConsumer<LegacySession, Inbound> saidElsewhere = (session, message) -> {};

  LegacySessions(McpDoor.Dependencies on, CatalogueChanges changes) {
    this.on = on;
    this.records =
        on.cluster().isAlone()
            ? null
            : new SessionRecords(on.cluster().map("sessions"), on.idleMillis());
    on.vertx().setPeriodic(Math.min(SWEEP_MILLIS, on.idleMillis()), t -> sweep());
    changes.listen(
        (server, methods) -> open.values().forEach(session -> session.changed(server, methods)));
    if (records != null) {
      on.bus().subscribe(Addresses.CONVERSATION_OVER, this::overElsewhere);
      on.bus().subscribe(Addresses.SESSION_SAID, this::said);
      on.bus().subscribe(Addresses.SESSION_TOLD, this::told);
    }
  }

  /** Hears what clients said to nodes that know nothing of what it is about. */
  void onSaidElsewhere(BiConsumer<LegacySession, Inbound> hear) {
    saidElsewhere = hear;
  }

  /** Opens a session, of which all nodes know when the future is done. */
  Future<LegacySession> open(LegacySession.SessionParameters sessionParameters) {
    on.sessions().check(sessionParameters.share());
    String id = RandomIds.next();
    LegacySession session = keep(id, sessionParameters);
    return records == null
        ? Future.succeededFuture(session)
        : records.add(id, session.record()).map(session).onFailure(failure -> drop(session));
  }

  private LegacySession keep(String id, LegacySession.SessionParameters sessionParameters) {
    LegacySession session =
        new LegacySession(
            on.vertx(), budget, id, on.cluster().slot(), sessionParameters, elsewhere());
    open.put(id, session);
    on.sessions().add(sessionParameters.share(), 1);
    return session;
  }

  private void drop(LegacySession session) {
    if (open.remove(session.id(), session)) {
      on.sessions().release(session.caller().share());
    }
  }

  /** Where what concerns this session but is not known here goes; nowhere for a single node. */
  private LegacySession.SessionReplicator elsewhere() {
    return records == null
        ? LegacySession.SessionReplicator.NONE
        : new LegacySession.SessionReplicator() {
          @Override
          public void said(String session, JsonSlice message) {
            on.bus().publish(Addresses.SESSION_SAID, new SessionMessage(session, message));
          }

          @Override
          public void tell(String session, JsonSlice message) {
            on.bus().publish(Addresses.SESSION_TOLD, new SessionMessage(session, message));
          }

          @Override
          public Future<Void> changed(String session, SessionRecord record) {
            return records.change(session, record);
          }
        };
  }

  /**
   * The session that a request names; one that another node has opened is known here from now on.
   *
   * @throws BridgeException MALFORMED_REQUEST where it names none, SESSION_NOT_FOUND
   */
  Future<LegacySession> find(String id, Principal caller, String share, ServerId endpoint) {
    if (id == null) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The header Mcp-Session-Id is missing");
    }
    LegacySession session = open.get(id);
    if (session == null && records != null) {
      return records.find(id).map(record -> adopt(id, record, caller, share, endpoint));
    }
    return Future.succeededFuture(use(session, caller, endpoint));
  }

  private LegacySession adopt(
      String id, SessionRecord record, Principal caller, String share, ServerId endpoint) {
    boolean isTheirs =
        record != null
            && record.principal().equals(caller.name())
            && Objects.equals(record.endpoint(), endpoint);
    if (!isTheirs) {
      throw unknown();
    }
    LegacySession known = open.get(id);
    if (known == null) {
      known =
          keep(
              id,
              new LegacySession.SessionParameters(
                  caller, share, endpoint, record.version(), record.capabilities()));
      records.refresh(id);
    }
    return use(known, caller, endpoint);
  }

  private LegacySession use(LegacySession session, Principal caller, ServerId endpoint) {
    if (session == null || !session.belongsTo(caller, endpoint)) {
      throw unknown();
    }
    session.use();
    if (records != null) {
      asAllKnowIt(session);
    }
    return session;
  }

  private void asAllKnowIt(LegacySession session) {
    SessionRecord record = records.known(session.id());
    if (record == null) {
      drop(session);
      session.end();
      throw unknown();
    }
    session.hears(record.logLevel());
    long now = System.nanoTime();
    long halfNanos = TimeUnit.MILLISECONDS.toNanos(on.idleMillis()) / 2;
    if (records.isToRefresh(session.id()) || session.wasToldBefore(now - halfNanos)) {
      session.told(now);
      records.refresh(session.id());
    }
  }

  private static BridgeException unknown() {
    return new BridgeException(ErrorCode.SESSION_NOT_FOUND, "No such session, or not any more");
  }

  void end(LegacySession session) {
    drop(session);
    session.end();
    if (records != null) {
      records.remove(session.id());
    }
    on.bus().publish(Addresses.CONVERSATION_OVER, session.caller().conversation());
  }

  /** Another node has heard the end of it. */
  private void overElsewhere(String conversation) {
    List<LegacySession> over =
        open.values().stream()
            .filter(session -> session.caller().conversation().equals(conversation))
            .toList();
    over.forEach(
        session -> {
          drop(session);
          session.end();
        });
  }

  private void said(SessionMessage said) {
    LegacySession session = open.get(said.session());
    if (session != null) {
      saidElsewhere.accept(session, Inbound.read(said.message().toBytes(), MAX_DEPTH));
    }
  }

  private void told(SessionMessage told) {
    LegacySession session = open.get(told.session());
    if (session != null) {
      session.tellListener(told.message());
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    open.values().forEach(session -> session.forgetStreams(now - KEEP_NANOS));
    long since = now - TimeUnit.MILLISECONDS.toNanos(patienceMillis());
    List<LegacySession> idle =
        open.values().stream().filter(session -> session.isIdleSince(since)).toList();
    idle.forEach(session -> endOrForget(session, since));
  }

  /** Longer than a record is kept: one that is still there then was refreshed at another node. */
  private long patienceMillis() {
    return records == null ? on.idleMillis() : 2 * on.idleMillis();
  }

  /** One that is in use at another node is only forgotten here. */
  private void endOrForget(LegacySession session, long since) {
    if (records == null) {
      end(session);
      return;
    }
    records
        .find(session.id())
        .onSuccess(
            record -> {
              if (record == null) {
                end(session);
              } else if (session.isIdleSince(since)) {
                drop(session);
                session.end();
              }
            });
  }
}
