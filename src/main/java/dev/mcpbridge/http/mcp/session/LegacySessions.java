package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.SessionMessage;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.EventBudget;
import dev.mcpbridge.http.mcp.request.CatalogueChanges;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RandomIds;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * The sessions of clients with a handshake. Their number is limited, idle ones end, and each is
 * valid only for its principal and endpoint. A request with an unknown id allocates nothing.
 * Confined to the HTTP verticle.
 */
public final class LegacySessions {
  private static final int MAX_DEPTH = 1_000;
  private static final long SWEEP_MILLIS = 60_000;
  private static final long MAX_BUFFERED_BYTES = 64L << 20;
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final Vertx vertx;
  private final Bus bus;
  private final int slot;
  private final Shares shares;
  private final long idleMillis;
  private final SessionRecords records;
  private final EventBudget budget = new EventBudget(MAX_BUFFERED_BYTES);
  private final Map<String, LegacySession> sessions = new HashMap<>();
  private BiConsumer<LegacySession, ClientMessage> remoteMessageHandler = (session, message) -> {};

  public LegacySessions(
      Vertx vertx,
      Bus bus,
      Cluster cluster,
      Shares shares,
      long idleMillis,
      CatalogueChanges changes) {
    this.vertx = vertx;
    this.bus = bus;
    this.slot = cluster.slot();
    this.shares = shares;
    this.idleMillis = idleMillis;
    this.records =
        cluster.isAlone() ? null : new SessionRecords(cluster.map("sessions"), idleMillis);
    vertx.setPeriodic(Math.min(SWEEP_MILLIS, idleMillis), t -> sweep());
    changes.listen(
        (server, methods) ->
            sessions.values().forEach(session -> session.changed(server, methods)));
    if (records != null) {
      bus.subscribe(Addresses.CONVERSATION_ENDED, this::endedAtOtherNode);
      bus.subscribe(Addresses.SESSION_MESSAGE_RECEIVED, this::handleClientMessage);
      bus.subscribe(Addresses.SESSION_MESSAGE_FOR_CLIENT, this::handleNotification);
    }
  }

  /** Sets the handler of client messages that another node received and could not match. */
  void onRemoteMessage(BiConsumer<LegacySession, ClientMessage> handler) {
    remoteMessageHandler = handler;
  }

  /** Opens a session; the future succeeds when all nodes have its record. */
  Future<LegacySession> open(LegacySession.SessionParameters sessionParameters) {
    shares.check(sessionParameters.share());
    String id = RandomIds.next();
    LegacySession session = register(id, sessionParameters);
    return records == null
        ? Future.succeededFuture(session)
        : records.add(id, session.record()).map(session).onFailure(failure -> unregister(session));
  }

  private LegacySession register(String id, LegacySession.SessionParameters sessionParameters) {
    LegacySession session =
        new LegacySession(vertx, budget, id, slot, sessionParameters, replicator());
    sessions.put(id, session);
    shares.add(sessionParameters.share(), 1);
    return session;
  }

  private void unregister(LegacySession session) {
    if (sessions.remove(session.id(), session)) {
      shares.release(session.caller().share());
    }
  }

  /** Forwards what this node cannot handle; does nothing on a single node. */
  private LegacySession.SessionReplicator replicator() {
    return records == null
        ? LegacySession.SessionReplicator.NONE
        : new LegacySession.SessionReplicator() {
          @Override
          public void forwardMessage(String session, JsonSlice message) {
            bus.publish(Addresses.SESSION_MESSAGE_RECEIVED, new SessionMessage(session, message));
          }

          @Override
          public void forwardNotification(String session, JsonSlice message) {
            bus.publish(Addresses.SESSION_MESSAGE_FOR_CLIENT, new SessionMessage(session, message));
          }

          @Override
          public Future<Void> replicate(String session, SessionRecord record) {
            return records.change(session, record);
          }
        };
  }

  /**
   * Finds the session of a request; adopts one that another node has opened.
   *
   * @throws BridgeException MALFORMED_REQUEST without an id, SESSION_NOT_FOUND
   */
  Future<LegacySession> find(String id, Principal caller, String share, ServerId endpoint) {
    if (id == null) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The header Mcp-Session-Id is missing");
    }
    LegacySession session = sessions.get(id);
    if (session == null && records != null) {
      return records.find(id).map(record -> adopt(id, record, caller, share, endpoint));
    }
    return Future.succeededFuture(use(session, caller, endpoint));
  }

  private LegacySession adopt(
      String id, SessionRecord record, Principal caller, String share, ServerId endpoint) {
    boolean isOwner =
        record != null
            && record.principal().equals(caller.name())
            && Objects.equals(record.endpoint(), endpoint);
    if (!isOwner) {
      throw notFound();
    }
    LegacySession session = sessions.get(id);
    if (session == null) {
      session =
          register(
              id,
              new LegacySession.SessionParameters(
                  caller, share, endpoint, record.version(), record.capabilities()));
      records.refresh(id);
    }
    return use(session, caller, endpoint);
  }

  private LegacySession use(LegacySession session, Principal caller, ServerId endpoint) {
    if (session == null || !session.belongsTo(caller, endpoint)) {
      throw notFound();
    }
    session.use();
    if (records != null) {
      syncWithRecord(session);
    }
    return session;
  }

  private void syncWithRecord(LegacySession session) {
    SessionRecord record = records.known(session.id());
    if (record == null) {
      unregister(session);
      session.end();
      throw notFound();
    }
    session.updateLogLevel(record.logLevel());
    long now = System.nanoTime();
    long halfNanos = TimeUnit.MILLISECONDS.toNanos(idleMillis) / 2;
    if (records.isToRefresh(session.id()) || session.wasRefreshedBefore(now - halfNanos)) {
      session.markRefreshed(now);
      records.refresh(session.id());
    }
  }

  private static BridgeException notFound() {
    return new BridgeException(ErrorCode.SESSION_NOT_FOUND, "The session is unknown or has ended");
  }

  void end(LegacySession session) {
    unregister(session);
    session.end();
    if (records != null) {
      records.remove(session.id());
    }
    bus.publish(Addresses.CONVERSATION_ENDED, session.caller().conversation());
  }

  /** Another node has ended the session. */
  private void endedAtOtherNode(String conversation) {
    List<LegacySession> ended =
        sessions.values().stream()
            .filter(session -> session.caller().conversation().equals(conversation))
            .toList();
    ended.forEach(
        session -> {
          unregister(session);
          session.end();
        });
  }

  private void handleClientMessage(SessionMessage forwarded) {
    LegacySession session = sessions.get(forwarded.session());
    if (session != null) {
      remoteMessageHandler.accept(
          session, ClientMessage.read(forwarded.message().toBytes(), MAX_DEPTH));
    }
  }

  private void handleNotification(SessionMessage forwarded) {
    LegacySession session = sessions.get(forwarded.session());
    if (session != null) {
      session.sendToListener(forwarded.message());
    }
  }

  private void sweep() {
    long now = System.nanoTime();
    sessions.values().forEach(session -> session.forgetStreams(now - KEEP_NANOS));
    long since = now - TimeUnit.MILLISECONDS.toNanos(maxIdleMillis());
    List<LegacySession> idle =
        sessions.values().stream().filter(session -> session.isIdleSince(since)).toList();
    idle.forEach(session -> endOrForget(session, since));
  }

  /** Exceeds the lifetime of a record: one that still exists was refreshed by another node. */
  private long maxIdleMillis() {
    return records == null ? idleMillis : 2 * idleMillis;
  }

  /** Ends an idle session; one in use at another node is only removed here. */
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
                unregister(session);
                session.end();
              }
            });
  }
}
