package dev.mcpbridge.call;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Warns of one kind of failure once a second, and says how often it was left out in between: what
 * goes wrong a thousand times a second is one fact. Confined like its owner.
 */
final class RateLimitedLogger {
  private static final long INTERVAL_NANOS = 1_000_000_000L;
  private static final int MAX_KINDS = 1000;

  private final Logger log;
  private final Map<String, FailureKind> kinds =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, FailureKind> eldest) {
          return size() > MAX_KINDS;
        }
      };

  private static final class FailureKind {
    long lastNanos;
    int leftOut;
  }

  RateLimitedLogger(Logger log) {
    this.log = log;
  }

  /**
   * Logs a warning, or at debug level what is not one.
   *
   * @param kind what counts as the same
   */
  synchronized void log(String kind, boolean warning, Supplier<String> message) {
    if (!warning) {
      log.log(Level.DEBUG, message);
      return;
    }
    FailureKind known = kinds.computeIfAbsent(kind, k -> new FailureKind());
    long now = System.nanoTime();
    if (known.lastNanos != 0 && now - known.lastNanos < INTERVAL_NANOS) {
      known.leftOut++;
      return;
    }
    String suffix = known.leftOut == 0 ? "" : " (and " + known.leftOut + " more like it)";
    log.log(Level.WARNING, () -> message.get() + suffix);
    known.lastNanos = now;
    known.leftOut = 0;
  }
}
