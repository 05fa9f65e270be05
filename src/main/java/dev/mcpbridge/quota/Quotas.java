package dev.mcpbridge.quota;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import io.github.bucket4j.TimeMeter;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Counts calls and refuses those that exceed a quota. All quotas that a call belongs to must have
 * room; the first that has not is named, and the others do not count the call. Thread-safe.
 */
public final class Quotas {
  private static final int MAX_COUNTS = 20_000;
  private static final long PURGE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final IntSupplier nodes;
  private final TimeMeter clock;
  private final Map<Key, Count> counts = new ConcurrentHashMap<>();
  private volatile List<QuotaRule> rules;
  private volatile int sharedBy = 1;
  private volatile long purgedNanos;

  /** Where a call is counted. */
  public enum Place {
    /** At the node that received the request. */
    RECEIVER,
    /** At the node that runs the server. */
    OWNER
  }

  record Key(String rule, String count) {}

  /**
   * What is left of a quota.
   *
   * @param resetSeconds until there is more
   */
  public record Remainder(QuotaRule rule, long left, long resetSeconds) {}

  /**
   * @param nodes number of nodes that share the quotas of callers, at this moment
   */
  public Quotas(List<QuotaRule> rules, IntSupplier nodes) {
    this(rules, nodes, TimeMeter.SYSTEM_MILLISECONDS);
  }

  Quotas(List<QuotaRule> rules, IntSupplier nodes, TimeMeter clock) {
    this.rules = List.copyOf(rules);
    this.nodes = nodes;
    this.clock = clock;
  }

  /** Replaces the quotas; counts of quotas that have not changed are kept. */
  public void reload(List<QuotaRule> newRules) {
    List<QuotaRule> before = rules;
    rules = List.copyOf(newRules);
    counts.keySet().removeIf(key -> !hasSame(before, newRules, key.rule()));
  }

  private static boolean hasSame(List<QuotaRule> one, List<QuotaRule> other, String name) {
    return other.stream().filter(rule -> rule.name().equals(name)).anyMatch(one::contains);
  }

  public boolean isEmpty() {
    return rules.isEmpty();
  }

  /**
   * Runs a call if the quotas that are counted at a place have room for it.
   *
   * @return fails with RATE_LIMITED and the member {@code limit}
   */
  public <T> Future<T> within(Place place, Call call, Supplier<Future<T>> run) {
    if (rules.isEmpty()) {
      return run.get();
    }
    List<Count> taken = new ArrayList<>(2);
    for (QuotaRule rule : rules) {
      if (rule.isCountedByOwner() == (place == Place.OWNER)) {
        for (String count : rule.counts(call)) {
          BridgeException refusal = take(rule, count, taken);
          if (refusal != null) {
            taken.forEach(Count::giveBack);
            return Future.failedFuture(refusal);
          }
        }
      }
    }
    Future<T> result;
    try {
      result = run.get();
    } catch (RuntimeException e) {
      result = Future.failedFuture(e);
    }
    return taken.isEmpty() ? result : result.onComplete(done -> taken.forEach(Count::end));
  }

  private BridgeException take(QuotaRule rule, String name, List<Count> taken) {
    Count count = count(rule, name);
    if (count == null) {
      return rule.allowance() instanceof Allowance.Repeats
          ? null
          : new BridgeException(ErrorCode.OVERLOADED, "Too many callers are counted")
              .withRetryAfter(1_000);
    }
    long nanos = count.take();
    if (nanos == 0) {
      taken.add(count);
      return null;
    }
    return new BridgeException(ErrorCode.RATE_LIMITED, sentence(rule))
        .withRetryAfter(TimeUnit.NANOSECONDS.toMillis(nanos))
        .with("limit", rule.name());
  }

  private static String sentence(QuotaRule rule) {
    String begin = "The quota '" + rule.name() + "' is used up: ";
    String wait = ". Wait before the next call";
    Allowance allowance = rule.allowance();
    if (allowance instanceof Allowance.Rate rate) {
      return begin + rate.calls() + " calls in " + rate.window().toSeconds() + " s" + wait;
    }
    if (allowance instanceof Allowance.PerPeriod quota) {
      String period = quota.period().name().toLowerCase(Locale.ROOT);
      return begin + quota.calls() + " calls in a " + period + wait;
    }
    return allowance instanceof Allowance.Repeats repeats
        ? "The same call was made more than "
            + repeats.calls()
            + " times in "
            + repeats.window().toSeconds()
            + " s (quota '"
            + rule.name()
            + "'). Do not repeat it; change the arguments or stop"
        : begin + allowance.calls() + " calls at once" + wait;
  }

  /** Null if there is no room for another count. */
  private Count count(QuotaRule rule, String name) {
    resize();
    Key key = new Key(rule.name(), name);
    Count known = counts.get(key);
    if (known != null && known.isFor(rule.allowance())) {
      return known;
    }
    if (known != null) {
      counts.remove(key, known);
    }
    boolean isRepeats = rule.allowance() instanceof Allowance.Repeats;
    int most = isRepeats ? MAX_COUNTS / 2 : MAX_COUNTS;
    if (counts.size() >= most) {
      purge();
    }
    return counts.size() >= most
        ? null
        : counts.computeIfAbsent(key, k -> Count.of(allowance(rule), clock));
  }

  private Allowance allowance(QuotaRule rule) {
    return rule.isCountedByOwner() ? rule.allowance() : rule.allowance().sharedBy(sharedBy);
  }

  private void resize() {
    int present = Math.max(1, nodes.getAsInt());
    if (present != sharedBy) {
      resize(present);
    }
  }

  private synchronized void resize(int present) {
    if (present != sharedBy) {
      sharedBy = present;
      for (QuotaRule rule : rules) {
        counts.forEach(
            (key, count) -> {
              if (key.rule().equals(rule.name()) && count.isFor(rule.allowance())) {
                count.resize(allowance(rule));
              }
            });
      }
    }
  }

  /** Forgets counts from which nothing is missing; at most once in a second. */
  private void purge() {
    long now = System.nanoTime();
    if (purgedNanos == 0 || now - purgedNanos > PURGE_NANOS) {
      purgedNanos = now;
      counts.values().removeIf(Count::isUnused);
    }
  }

  /** The quota of a caller that is closest to its end; empty if none is counted for the call. */
  public Optional<Remainder> closest(Call call) {
    Remainder closest = null;
    for (QuotaRule rule : rules) {
      boolean isTold = !rule.isCountedByOwner() && !(rule.allowance() instanceof Allowance.Repeats);
      for (String name : isTold ? rule.counts(call) : List.<String>of()) {
        Count count = counts.get(new Key(rule.name(), name));
        if (count != null && (closest == null || count.left() < closest.left())) {
          closest = new Remainder(rule, count.left(), count.resetSeconds());
        }
      }
    }
    return Optional.ofNullable(closest);
  }

  /** The calls that were counted in calendar periods, to be kept across a restart. */
  Map<Key, Count.InPeriod> inPeriods() {
    Map<Key, Count.InPeriod> kept = new HashMap<>();
    counts.forEach(
        (key, count) -> {
          if (count instanceof Count.InPeriod period && !period.isUnused()) {
            kept.put(key, period);
          }
        });
    return kept;
  }

  /** Continues a count; does nothing if there is no such quota any longer. */
  void restore(Key key, long used, long endMillis) {
    rules.stream()
        .filter(rule -> rule.name().equals(key.rule()))
        .findFirst()
        .map(rule -> count(rule, key.count()))
        .ifPresent(
            count -> {
              if (count instanceof Count.InPeriod period) {
                period.restore(used, endMillis);
              }
            });
  }
}
