package dev.mcpbridge.http.reply;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.model.AuditRecord;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Records in the audit trail what callers can cause any number of times: the first of a kind at
 * once, further ones of a period together, so that no caller can fill the trail. No caller has more
 * than half of the kinds, so that none hides the others. Confined to the event loop.
 */
final class CountedRecords {
  private static final Shares.Limit KINDS = new Shares.Limit("counted kinds", "", 999, 0);
  private static final String OTHERS = "others";

  private final Vertx vertx;
  private final Bus bus;
  private final String event;
  private final String counted;
  private final long periodMillis;

  /** How many there were since the last record. */
  private final Map<Kind, Integer> counts = new HashMap<>();

  private final Shares kinds = new Shares(KINDS, () -> true);

  /** What is counted together. Absent members are null. */
  record Kind(String principal, String address, String route) {
    /** Whose share of the kinds it takes. */
    private String caller() {
      return principal == null ? address : principal;
    }
  }

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
    Kind kind = counts.containsKey(single) ? single : placed(single);
    if (counts.merge(kind, 1, Integer::sum) == 1) {
      record(kind, 1);
      vertx.setTimer(periodMillis, t -> recordMore(kind));
    }
  }

  /** The kind itself, or one for all for which there is no room. */
  private Kind placed(Kind single) {
    try {
      kinds.acquire(single.caller());
      return single;
    } catch (BridgeException noRoom) {
      boolean isGreedy = noRoom.code() == ErrorCode.RATE_LIMITED;
      return new Kind(isGreedy ? single.principal : null, OTHERS, null);
    }
  }

  /** Records what was counted so far, before the trail is closed. */
  void finish() {
    List.copyOf(counts.keySet()).forEach(this::recordMore);
  }

  private void recordMore(Kind kind) {
    Integer all = counts.remove(kind);
    if (all == null) {
      return;
    }
    if (!kind.address.equals(OTHERS)) {
      kinds.release(kind.caller());
    }
    if (all > 1) {
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
