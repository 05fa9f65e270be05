package dev.mcpbridge.limit;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Places of which there is a fixed number, and of which no caller may hold more than half, so that
 * there are always some for the others. Where there can be one caller only, it may hold them all.
 * Confined to its owner.
 */
public final class Shares {
  private final BooleanSupplier severalCallers;
  private final Map<String, Integer> held = new HashMap<>();
  private Limit limit;
  private int total;

  /**
   * What is limited.
   *
   * @param what the places are, in the plural
   * @param key of the configuration, or empty for a limit that is fixed
   */
  public record Limit(String what, String key, int places, long retryAfterMillis) {

    private BridgeException refusal(ErrorCode code, String why) {
      String named = key.isEmpty() ? "" : " (" + key + ")";
      return new BridgeException(code, why + named).withRetryAfter(retryAfterMillis);
    }
  }

  /**
   * @param severalCallers whether callers can be told apart
   */
  public Shares(Limit limit, BooleanSupplier severalCallers) {
    this.limit = limit;
    this.severalCallers = severalCallers;
  }

  /** Another number of places from now on; what is held stays. */
  public void reload(int places) {
    limit = new Limit(limit.what(), limit.key(), places, limit.retryAfterMillis());
  }

  /**
   * Takes a place.
   *
   * @throws BridgeException RATE_LIMITED for a caller that has its share, OVERLOADED where no place
   *     is left
   */
  public void take(String caller) {
    check(caller);
    add(caller, 1);
  }

  /**
   * Does the same without taking one: how many it will be is only known later.
   *
   * @throws BridgeException RATE_LIMITED, OVERLOADED
   */
  public void check(String caller) {
    int own = held(caller);
    if (severalCallers.getAsBoolean() && own >= Math.max(1, limit.places() / 2)) {
      throw limit.refusal(
          ErrorCode.RATE_LIMITED,
          "This caller has its share of the "
              + limit.what()
              + ": "
              + own
              + " of "
              + limit.places());
    }
    if (total >= limit.places()) {
      throw limit.refusal(
          ErrorCode.OVERLOADED, "All " + limit.places() + " " + limit.what() + " are in use");
    }
  }

  /** Takes places without asking whether there are any: what they are for is there already. */
  public void add(String caller, int places) {
    held.merge(caller, places, Integer::sum);
    total += places;
  }

  /** Gives back a place that was taken. */
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
