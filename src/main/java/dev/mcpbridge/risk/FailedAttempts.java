package dev.mcpbridge.risk;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/** Limits wrong tokens: ten a minute for each key, then a pause. Confined like its owner. */
final class FailedAttempts {
  private static final int MAX = 10;
  private static final long WINDOW_MILLIS = 60_000;

  private final Clock clock;
  private final Map<String, Window> windows = new HashMap<>();

  private record Window(long sinceMillis, int failures) {}

  FailedAttempts(Clock clock) {
    this.clock = clock;
  }

  void check(String key) {
    Window window = windows.get(key);
    long age = window == null ? 0 : clock.millis() - window.sinceMillis();
    if (window != null && age < WINDOW_MILLIS && window.failures() >= MAX) {
      throw new BridgeException(ErrorCode.RATE_LIMITED, "Too many wrong tokens")
          .withRetryAfter(WINDOW_MILLIS - age);
    }
  }

  void record(String key) {
    long now = clock.millis();
    windows.values().removeIf(window -> now - window.sinceMillis() >= WINDOW_MILLIS);
    windows.merge(
        key, new Window(now, 1), (old, one) -> new Window(old.sinceMillis(), old.failures() + 1));
  }
}
