package dev.mcpbridge.model;

import dev.mcpbridge.limit.BoundedMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How long the calls of one server take: moving averages, one for each tool and prompt. Confined to
 * its verticle's context.
 */
final class ServiceTimes {
  private static final int MAX_TARGETS = 1_000;
  private static final double NEWEST = 0.2;
  private static final double LEAST_MILLIS = 0.1;
  private static final double UNKNOWN_MILLIS = 1;

  private final Map<String, Double> averages = new BoundedMap<>(MAX_TARGETS);
  private double average;

  void add(Target target, long nanos) {
    double millis = Math.max(LEAST_MILLIS, (double) nanos / TimeUnit.MILLISECONDS.toNanos(1));
    average = average == 0 ? millis : average(average, millis);
    averages.merge(key(target), millis, ServiceTimes::average);
  }

  private static double average(double before, double millis) {
    return (1 - NEWEST) * before + NEWEST * millis;
  }

  /** In milliseconds. */
  double of(Target target) {
    return averages.getOrDefault(key(target), ofAll());
  }

  /** The average of all calls, in milliseconds. */
  double ofAll() {
    return average == 0 ? UNKNOWN_MILLIS : average;
  }

  /** All resources of a server are one: there may be any number of them. */
  private static String key(Target target) {
    return switch (target.kind()) {
      case TOOL -> "tool " + target.name();
      case PROMPT -> "prompt " + target.name();
      case RESOURCE, COMPLETION -> target.kind().name();
    };
  }
}
