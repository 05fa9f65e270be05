package dev.mcpbridge.http;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Vertx;
import java.util.Map;

/**
 * Records refused keys and tokens: the first of an address at once, further ones within a minute
 * together, so that no caller can fill the audit trail with them. Confined to the event loop.
 */
final class RefusedCredentials {
  private static final int MAX_ADDRESSES = 1_000;
  private static final long MINUTE_MILLIS = 60_000;

  private final Vertx vertx;
  private final Bus bus;

  /** How many were refused since the last record, by address. */
  private final Map<String, Integer> refused = new BoundedMap<>(MAX_ADDRESSES);

  RefusedCredentials(Vertx vertx, Bus bus) {
    this.vertx = vertx;
    this.bus = bus;
  }

  void add(String client) {
    if (!bus.isServed(Addresses.AUDIT)) {
      return;
    }
    boolean isKnown = refused.containsKey(client) || refused.size() < MAX_ADDRESSES - 1;
    String address = isKnown ? client : "others";
    boolean isFirst = !refused.containsKey(address);
    refused.merge(address, 1, Integer::sum);
    if (isFirst) {
      record(address, 1);
      refused.put(address, 0);
      vertx.setTimer(MINUTE_MILLIS, t -> recordMore(address));
    }
  }

  private void recordMore(String address) {
    Integer more = refused.remove(address);
    if (more != null && more > 0) {
      record(address, more);
    }
  }

  private void record(String address, int count) {
    bus.offer(
        Addresses.AUDIT,
        () -> new AuditRecord("credential").with("address", address).with("refused", count));
  }
}
