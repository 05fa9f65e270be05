package dev.mcpbridge.http.mcp;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
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

  /**
   * The state of a session that nodes share.
   *
   * @param endpoint null for all servers
   */
  record SessionRecord(
      String principal,
      ServerId endpoint,
      ProtocolVersion version,
      JsonSlice capabilities,
      String logLevel) {

    private byte[] toBytes() {
      return new WireWriter()
          .text(principal)
          .optional(endpoint == null ? null : endpoint.name(), WireWriter::text)
          .text(version.date())
          .bytes(capabilities.toBytes())
          .text(logLevel)
          .toBytes();
    }

    private static SessionRecord of(byte[] bytes) {
      WireReader in = new WireReader(bytes);
      String principal = in.text();
      String endpoint = in.optional(WireReader::text);
      return new SessionRecord(
          principal,
          endpoint == null ? null : new ServerId(endpoint),
          ProtocolVersion.of(in.text()).orElse(ProtocolVersion.LATEST),
          JsonSlice.of(in.bytes()),
          in.text());
    }
  }

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
