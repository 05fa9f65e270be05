package dev.mcpbridge.http.reply;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Vertx;
import java.util.Map;

/**
 * Records in the audit trail what callers can cause any number of times: the first of a kind at
 * once, further ones of a period together, so that no caller can fill the trail. Confined to the
 * event loop.
 */
final class CountedRecords {
  private static final int MAX_KINDS = 1_000;
  private static final Kind OTHERS = new Kind(null, "others", null);

  private final Vertx vertx;
  private final Bus bus;
  private final String event;
  private final String counted;
  private final long periodMillis;

  /** How many there were since the last record. */
  private final Map<Kind, Integer> counts = new BoundedMap<>(MAX_KINDS);

  /** What is counted together. Absent members are null. */
  record Kind(String principal, String address, String route) {}

  /**
   * @param counted name of the member with the number
   */
  CountedRecords(Vertx vertx, Bus bus, String event, String counted, long periodMillis) {
    this.vertx = vertx;
    this.bus = bus;
    this.event = event;
    this.counted = counted;
    this.periodMillis = periodMillis;
  }

  void add(Kind single) {
    if (!bus.isServed(Addresses.AUDIT)) {
      return;
    }
    boolean isKnown = counts.containsKey(single) || counts.size() < MAX_KINDS - 1;
    Kind kind = isKnown ? single : OTHERS;
    if (counts.merge(kind, 1, Integer::sum) == 1) {
      record(kind, 1);
      vertx.setTimer(periodMillis, t -> recordMore(kind));
    }
  }

  private void recordMore(Kind kind) {
    Integer all = counts.remove(kind);
    if (all != null && all > 1) {
      record(kind, all - 1);
    }
  }

  private void record(Kind kind, int count) {
    bus.offer(
        Addresses.AUDIT,
        () ->
            new AuditRecord(event)
                .with("principal", kind.principal)
                .with("address", kind.address)
                .with("route", kind.route)
                .with(counted, count));
  }
}
