package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;

/**
 * The records of open sessions, shared by all nodes so that each can handle any request. A record
 * lives one and a half times as long as a session may be idle, and is refreshed while the session
 * is in use.
 */
final class SessionRecords {
  private final SharedMap records;
  private final long idleMillis;
  private final long lifetimeMillis;

  SessionRecords(SharedMap records, long idleMillis) {
    this.records = records;
    this.idleMillis = idleMillis;
    this.lifetimeMillis = idleMillis + idleMillis / 2;
  }

  Future<Void> add(String id, SessionRecord record) {
    return records
        .put(id, SharedMap.ABSENT, record.toBytes(), lifetimeMillis, Eviction.NEVER)
        .map(
            change -> {
              if (!change.isDone()) {
                throw tooManySessions();
              }
              return null;
            });
  }

  private static BridgeException tooManySessions() {
    return new BridgeException(ErrorCode.OVERLOADED, "Too many open sessions; retry later")
        .withRetryAfter(60_000);
  }

  /** Null if the session does not exist or has ended. */
  Future<SessionRecord> find(String id) {
    return records.get(id).map(item -> item.isPresent() ? SessionRecord.of(item.value()) : null);
  }

  /** The record as last seen by this node; null if it has none. */
  SessionRecord known(String id) {
    Item item = records.cached(id);
    return item.isPresent() ? SessionRecord.of(item.value()) : null;
  }

  /** Whether to refresh the record, by the time that the nodes last agreed on. */
  boolean isToRefresh(String id) {
    Item item = records.cached(id);
    return item.isPresent() && item.untilMillis() - item.millis() < idleMillis;
  }

  /** Extends the lifetime of the record, unless another change has extended it meanwhile. */
  void refresh(String id) {
    Item item = records.cached(id);
    if (item.isPresent()) {
      records.put(id, item.version(), item.value(), lifetimeMillis, Eviction.NEVER);
    }
  }

  /** Succeeds when the nodes have agreed on the change, or if the session has ended. */
  Future<Void> change(String id, SessionRecord record) {
    return change(id, records.cached(id), record.toBytes());
  }

  private Future<Void> change(String id, Item item, byte[] record) {
    if (!item.isPresent()) {
      return Future.succeededFuture();
    }
    return records
        .put(id, item.version(), record, lifetimeMillis, Eviction.NEVER)
        .compose(
            change -> {
              if (change.isFull()) {
                throw tooManySessions();
              }
              return wasOvertaken(change)
                  ? change(id, change.item(), record)
                  : Future.succeededFuture();
            });
  }

  void remove(String id) {
    remove(id, records.cached(id));
  }

  private void remove(String id, Item item) {
    if (item.isPresent()) {
      records
          .remove(id, item.version())
          .onSuccess(
              change -> {
                if (wasOvertaken(change)) {
                  remove(id, change.item());
                }
              });
    }
  }

  /** Whether another change of an existing record, such as a refresh, came first. */
  private static boolean wasOvertaken(Change change) {
    return !change.isDone() && !change.isFull() && change.item().isPresent();
  }
}
