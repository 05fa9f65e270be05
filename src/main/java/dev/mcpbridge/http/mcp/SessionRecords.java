package dev.mcpbridge.http.mcp;

import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.SharedMap.Keep;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import io.vertx.core.Future;

/**
 * What all nodes know of the open sessions, so that each of them can take any request of any
 * session. A record is kept for half as long again as a session may be idle, and refreshed while
 * that is in use.
 */
final class SessionRecords {
  private final SharedMap records;
  private final long idleMillis;
  private final long keptMillis;

  /**
   * What a client said when it came, and since.
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
    this.keptMillis = idleMillis + idleMillis / 2;
  }

  Future<Void> add(String id, SessionRecord record) {
    return records
        .put(id, SharedMap.ABSENT, record.toBytes(), keptMillis, Keep.FIRM)
        .map(
            change -> {
              if (!change.isDone()) {
                throw full();
              }
              return null;
            });
  }

  private static BridgeException full() {
    return new BridgeException(ErrorCode.OVERLOADED, "Too many sessions are open")
        .withRetryAfter(60_000);
  }

  /** Null where there is no such session, or not any more. */
  Future<SessionRecord> find(String id) {
    return records.get(id).map(item -> item.isThere() ? SessionRecord.of(item.value()) : null);
  }

  /** As this node knows it; null where it knows none. */
  SessionRecord known(String id) {
    Item item = records.known(id);
    return item.isThere() ? SessionRecord.of(item.value()) : null;
  }

  /** Whether it is time to refresh it, as far as nodes have agreed on anything since. */
  boolean isToRefresh(String id) {
    Item item = records.known(id);
    return item.isThere() && item.untilMillis() - item.millis() < idleMillis;
  }

  /** It is in use: it stays. Where it was changed meanwhile, that says so, too. */
  void refresh(String id) {
    Item item = records.known(id);
    if (item.isThere()) {
      records.put(id, item.version(), item.value(), keptMillis, Keep.FIRM);
    }
  }

  /** Done when the nodes have agreed on it, or when there is no such session any more. */
  Future<Void> change(String id, SessionRecord record) {
    return change(id, records.known(id), record.toBytes());
  }

  private Future<Void> change(String id, Item item, byte[] record) {
    if (!item.isThere()) {
      return Future.succeededFuture();
    }
    return records
        .put(id, item.version(), record, keptMillis, Keep.FIRM)
        .compose(
            change -> {
              if (change.isFull()) {
                throw full();
              }
              return wasOvertaken(change)
                  ? change(id, change.item(), record)
                  : Future.succeededFuture();
            });
  }

  void remove(String id) {
    remove(id, records.known(id));
  }

  private void remove(String id, Item item) {
    if (item.isThere()) {
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

  /** By another change of what is still there, such as a refresh. */
  private static boolean wasOvertaken(Change change) {
    return !change.isDone() && !change.isFull() && change.item().isThere();
  }
}
