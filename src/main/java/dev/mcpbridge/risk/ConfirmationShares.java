package dev.mcpbridge.risk;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.Shares;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The quotas of callers for confirmations that this node created: number and bytes. A confirmation
 * that was decided at another node counts until it would have expired. Confined like its owner.
 */
final class ConfirmationShares {
  private static final Shares.Limit NUMBER =
      new Shares.Limit("pending confirmations", "", 10_000, 60_000);
  private static final Shares.Limit BYTES =
      new Shares.Limit("bytes for pending confirmations", "", 64 << 20, 60_000);

  private final Shares number;
  private final Shares bytes;
  private final Map<String, HeldConfirmation> held = new LinkedHashMap<>();

  private record HeldConfirmation(String caller, int size, long untilMillis) {}

  ConfirmationShares(BooleanSupplier severalCallers) {
    this.number = new Shares(NUMBER, severalCallers);
    this.bytes = new Shares(BYTES, severalCallers);
  }

  /**
   * @throws BridgeException RATE_LIMITED, OVERLOADED
   */
  void acquire(String id, String caller, int size, long nowMillis, long untilMillis) {
    removeExpired(nowMillis);
    bytes.check(caller);
    number.acquire(caller);
    bytes.add(caller, size);
    held.put(id, new HeldConfirmation(caller, size, untilMillis));
  }

  void release(String id) {
    HeldConfirmation released = held.remove(id);
    if (released != null) {
      number.release(released.caller());
      bytes.release(released.caller(), released.size());
    }
  }

  /** Goes from the oldest on. After a reload with a shorter expiry, newer ones may wait behind. */
  private void removeExpired(long nowMillis) {
    held.entrySet().stream()
        .takeWhile(oldest -> oldest.getValue().untilMillis() <= nowMillis)
        .map(Map.Entry::getKey)
        .toList()
        .forEach(this::release);
  }
}
