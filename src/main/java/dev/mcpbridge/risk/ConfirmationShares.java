package dev.mcpbridge.risk;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.limit.Shares;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * What each caller holds of the confirmations that this node has asked for: their number and their
 * bytes. One that another node decides is counted here until it would have expired. Confined like
 * its owner.
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
  void take(String id, String caller, int size, long nowMillis, long untilMillis) {
    forgetExpired(nowMillis);
    bytes.check(caller);
    number.take(caller);
    bytes.add(caller, size);
    held.put(id, new HeldConfirmation(caller, size, untilMillis));
  }

  void release(String id) {
    HeldConfirmation own = held.remove(id);
    if (own != null) {
      number.release(own.caller());
      bytes.release(own.caller(), own.size());
    }
  }

  /** The oldest come first; where expiry was longer before a reload, some wait behind those. */
  private void forgetExpired(long nowMillis) {
    Iterator<Map.Entry<String, HeldConfirmation>> oldest = held.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<String, HeldConfirmation> next = oldest.next();
      if (next.getValue().untilMillis() > nowMillis) {
        return;
      }
      oldest.remove();
      number.release(next.getValue().caller());
      bytes.release(next.getValue().caller(), next.getValue().size());
    }
  }
}
