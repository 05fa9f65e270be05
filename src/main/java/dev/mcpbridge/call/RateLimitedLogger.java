package dev.mcpbridge.call;

import dev.mcpbridge.limit.BoundedMap;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Logs at most one warning a second for each kind of failure, with the number of warnings that were
 * suppressed since the last one. Thread-safe.
 */
final class RateLimitedLogger {
  private static final long INTERVAL_NANOS = 1_000_000_000L;
  private static final int MAX_KINDS = 1000;

  private final Logger log;
  private final Map<String, FailureKind> kinds = new BoundedMap<>(MAX_KINDS);

  private static final class FailureKind {
    long lastNanos;
    int suppressed;
  }

  RateLimitedLogger(Logger log) {
    this.log = log;
  }

  /**
   * Logs at warning or at debug level; only warnings are limited.
   *
   * @param kind identifies failures of the same kind
   */
  synchronized void log(String kind, boolean warning, Supplier<?> message) {
    if (!warning) {
      if (log.isLoggable(Level.DEBUG)) {
        log.log(Level.DEBUG, "{0}", message.get());
      }
      return;
    }
    FailureKind last = kinds.computeIfAbsent(kind, k -> new FailureKind());
    long now = System.nanoTime();
    if (last.lastNanos != 0 && now - last.lastNanos < INTERVAL_NANOS) {
      last.suppressed++;
      return;
    }
    String suffix = last.suppressed == 0 ? "" : " (and " + last.suppressed + " similar ones)";
    log.log(Level.WARNING, "{0}{1}", message.get(), suffix);
    last.lastNanos = now;
    last.suppressed = 0;
  }
}
