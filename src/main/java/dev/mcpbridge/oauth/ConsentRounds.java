package dev.mcpbridge.oauth;

import dev.mcpbridge.limit.BoundedMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How often callers have agreed to more scopes lately: a server that is never content must not send
 * its users around without end (MCP basic/authorization, step-up). Confined to the event loop.
 */
final class ConsentRounds {
  static final int MAX = 2;
  private static final long PERIOD_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final int MAX_CALLERS = 10_000;

  private final Map<String, List<Long>> times = new BoundedMap<>(MAX_CALLERS);

  /**
   * @param again whether the principal had agreed before
   */
  void agreed(String principal, boolean again) {
    if (!again) {
      return;
    }
    List<Long> recent = recent(principal);
    recent.add(System.currentTimeMillis());
    times.put(principal, recent);
  }

  boolean areUsedUp(String principal) {
    return recent(principal).size() >= MAX;
  }

  private List<Long> recent(String principal) {
    long since = System.currentTimeMillis() - PERIOD_MILLIS;
    List<Long> recent = new ArrayList<>(times.getOrDefault(principal, List.of()));
    recent.removeIf(time -> time < since);
    return recent;
  }
}
