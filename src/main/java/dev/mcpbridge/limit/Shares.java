package dev.mcpbridge.limit;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A limit of which no caller may use more than half, so that some is left for the others. If there
 * is only one caller, it may use all of it. Confined to its owner.
 */
public final class Shares {
  private final BooleanSupplier severalCallers;
  private final Map<String, Integer> held = new HashMap<>();
  private Limit limit;
  private int total;

  /**
   * What is limited.
   *
   * @param resource name of the limited resource, in the plural
   * @param key configuration key, or empty if the limit is fixed
   * @param size the limit
   */
  public record Limit(String resource, String key, int size, long retryAfterMillis) {

    private BridgeException refusal(ErrorCode code, String reason) {
      String suffix = key.isEmpty() ? "" : " (" + key + ")";
      return new BridgeException(code, reason + suffix).withRetryAfter(retryAfterMillis);
    }
  }

  /**
   * @param severalCallers whether callers can be told apart
   */
  public Shares(Limit limit, BooleanSupplier severalCallers) {
    this.limit = limit;
    this.severalCallers = severalCallers;
  }

  /** Changes the limit. What is held is retained. */
  public void reload(int places) {
    limit = new Limit(limit.resource(), limit.key(), places, limit.retryAfterMillis());
  }

  /**
   * Acquires one unit.
   *
   * @throws BridgeException RATE_LIMITED for a caller that has used its share, OVERLOADED if the
   *     limit is reached
   */
  public void acquire(String caller) {
    check(caller);
    add(caller, 1);
  }

  /**
   * Checks the limits without acquiring, for amounts that are only known later.
   *
   * @throws BridgeException RATE_LIMITED, OVERLOADED
   */
  public void check(String caller) {
    int own = held(caller);
    if (severalCallers.getAsBoolean() && own >= Math.max(1, limit.size() / 2)) {
      throw limit.refusal(
          ErrorCode.RATE_LIMITED,
          "The caller has used its share of the "
              + limit.resource()
              + ": "
              + own
              + " of "
              + limit.size());
    }
    if (total >= limit.size()) {
      throw limit.refusal(
          ErrorCode.OVERLOADED, "All " + limit.size() + " " + limit.resource() + " are in use");
    }
  }

  /** Acquires without a check, for what exists already. */
  public void add(String caller, int places) {
    held.merge(caller, places, Integer::sum);
    total += places;
  }

  /** Releases one unit. */
  public void release(String caller) {
    release(caller, 1);
  }

  public void release(String caller, int places) {
    held.computeIfPresent(caller, (c, count) -> count <= places ? null : count - places);
    total -= places;
  }

  public int held(String caller) {
    return held.getOrDefault(caller, 0);
  }

  public int total() {
    return total;
  }
}
