package dev.mcpbridge.http.mcp.session;

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
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * The sessions of clients with a handshake. Their number is limited, idle ones end, and each is
 * valid only for its principal and endpoint. A request with an unknown id allocates nothing. In a
 * cluster every node can handle any request of a session: what concerns another node is forwarded.
 * Confined to the HTTP verticle.
 */
public final class LegacySessions {
  private static final int MAX_DEPTH = 1_000;
  private static final long SWEEP_MILLIS = 60_000;
  private static final long MAX_BUFFERED_BYTES = 64L << 20;
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final Vertx vertx;
  private final Bus bus;
  private final IntSupplier node;
  private final Shares shares;
  private final long idleMillis;

  /** Null for a single node. */
  private final SessionRecords records;

  private final EventBudget budget = new EventBudget(MAX_BUFFERED_BYTES);
  private final Map<String, LegacySession> sessions = new HashMap<>();

  /**
   * @param shares limit on open sessions
   * @param idleMillis idle time after which a session ends
   */
  public LegacySessions(
      Vertx vertx,
      Bus bus,
      Cluster cluster,
      Shares shares,
      long idleMillis,
      CatalogueChanges changes) {
    this.vertx = vertx;
    this.bus = bus;
    this.node = cluster::slot;
    this.shares = shares;
    this.idleMillis = idleMillis;
    this.records =
        cluster.isAlone() ? null : new SessionRecords(cluster.map("sessions"), idleMillis);
    vertx.setPeriodic(Math.min(SWEEP_MILLIS, idleMillis), t -> sweep());
    changes.listen(this::catalogueChanged);
    bus.telemetry()
        .counts()
        .addGauge("sessions", "Open MCP sessions of clients at this node.", sessions::size);
    if (records != null) {
      bus.subscribe(Addresses.CONVERSATION_ENDED, this::endedAtOtherNode);
      bus.subscribe(Addresses.SESSION_MESSAGE_RECEIVED, this::receivedByOtherNode);
      bus.subscribe(Addresses.SESSION_MESSAGE_FOR_CLIENT, this::sentByOtherNode);
    }
  }

  /** Opens a session; the future succeeds when all nodes have its record. */
  Future<LegacySession> open(Principal principal, String share, SessionRecord record) {
    shares.check(share);
    LegacySession session = register(RandomIds.next(), principal, share, record);
    return records == null
        ? Future.succeededFuture(session)
        : records.add(session.id(), record).map(session).onFailure(failure -> forget(session));
  }

  private LegacySession register(
      String id, Principal principal, String share, SessionRecord record) {
    Caller caller = new Caller(principal, id).withShare(share);
    SentRequests sentRequests = new SentRequests(vertx, node.getAsInt());
    LegacySession session = new LegacySession(caller, record, sentRequests, budget);
    sessions.put(id, session);
    shares.add(share, 1);
    return session;
  }

  /** Ends a session at this node only. */
  private void forget(LegacySession session) {
    if (sessions.remove(session.id(), session)) {
      shares.release(session.caller().share());
    }
    session.end();
  }

  /** Ends a session at all nodes. */
  void end(LegacySession session) {
    forget(session);
    if (records != null) {
      records.remove(session.id());
    }
    bus.publish(Addresses.CONVERSATION_ENDED, session.caller().conversation());
  }

  /**
   * Finds the session of a request; adopts one that another node has opened.
   *
   * @throws BridgeException MALFORMED_REQUEST without an id, SESSION_NOT_FOUND
   */
  Future<LegacySession> find(String id, Principal caller, String share, Selection endpoint) {
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
      String id, SessionRecord record, Principal caller, String share, Selection endpoint) {
    LegacySession session = sessions.get(id);
    if (session == null && record != null && record.belongsTo(caller, endpoint)) {
      session = register(id, caller, share, record);
      records.refresh(id);
    }
    return use(session, caller, endpoint);
  }

  private LegacySession use(LegacySession session, Principal caller, Selection endpoint) {
    if (session == null || !session.record().belongsTo(caller, endpoint)) {
      throw notFound();
    }
    session.use(caller);
    if (records != null) {
      syncWithRecord(session);
    }
    return session;
  }

  private void syncWithRecord(LegacySession session) {
    SessionRecord record = records.known(session.id());
    if (record == null) {
      forget(session);
      throw notFound();
    }
    session.update(record);
    long halfAgo = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(idleMillis) / 2;
    if (records.isToRefresh(session.id()) || session.wasRefreshedBefore(halfAgo)) {
      session.markRefreshed();
      records.refresh(session.id());
    }
  }

  static BridgeException notFound() {
    return new BridgeException(ErrorCode.SESSION_NOT_FOUND, "The session is unknown or has ended");
  }

  /** Succeeds when the nodes have agreed on the level. */
  Future<Void> setLogLevel(LegacySession session, String level) {
    SessionRecord changed = session.record().withLogLevel(level);
    session.update(changed);
    return records == null
        ? Future.succeededFuture()
        : records.change(session.id(), changed).onSuccess(agreed -> session.update(changed));
  }

  /** Handles a response or a notification of a client, here or at the node that it concerns. */
  void handle(LegacySession session, ClientMessage message) {
    if (!session.handle(message) && records != null) {
      bus.publish(
          Addresses.SESSION_MESSAGE_RECEIVED,
          new SessionMessage(session.id(), message.raw().detached()));
    }
  }

  private void receivedByOtherNode(SessionMessage forwarded) {
    LegacySession session = sessions.get(forwarded.session());
    if (session != null) {
      session.handle(ClientMessage.read(forwarded.message().toBytes(), MAX_DEPTH));
    }
  }

  /** Notifies the client of a changed resource, on a stream of this or of another node. */
  void resourceUpdated(LegacySession session, JsonSlice params) {
    JsonSlice message = RpcWriter.notification(McpMethod.RESOURCE_UPDATED, params).toSlice();
    if (!session.streams().send(message) && records != null) {
      bus.publish(Addresses.SESSION_MESSAGE_FOR_CLIENT, new SessionMessage(session.id(), message));
    }
  }

  private void sentByOtherNode(SessionMessage forwarded) {
    LegacySession session = sessions.get(forwarded.session());
    if (session != null) {
      session.streams().send(forwarded.message());
    }
  }

  private void catalogueChanged(CatalogueChanges.Change change) {
    for (LegacySession session :
        matching(each -> each.record().endpoint().mayContain(change.server()))) {
      change.methods(session.caller().principal(), session.record().endpoint()).stream()
          .map(method -> RpcWriter.notification(method, JsonSlice.EMPTY_OBJECT).toSlice())
          .forEach(session.streams()::send);
    }
  }

  private void endedAtOtherNode(String conversation) {
    matching(session -> session.caller().conversation().equals(conversation)).forEach(this::forget);
  }

  private void sweep() {
    long now = System.nanoTime();
    sessions.values().forEach(session -> session.streams().forget(now - KEEP_NANOS));
    long since = now - TimeUnit.MILLISECONDS.toNanos(maxIdleMillis());
    matching(session -> session.isIdleSince(since)).forEach(idle -> endOrForget(idle, since));
  }

  private List<LegacySession> matching(Predicate<LegacySession> condition) {
    return sessions.values().stream().filter(condition).toList();
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
                forget(session);
              }
            });
  }
}
