package dev.mcpbridge.quota;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.TokensInheritanceStrategy;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The calls that were counted for one quota and one caller, role, server or tool. Thread-safe. */
sealed interface Count {
  /** Takes one call; returns 0, or the nanoseconds after which that may succeed. */
  long take();

  /** Ends a call that was taken. */
  void end();

  /** Takes a call back that did not start. */
  void giveBack();

  /** The calls that are left at this moment. */
  long left();

  /** The seconds until there are more; 0 if that depends on running calls. */
  long resetSeconds();

  /** Whether nothing would be lost if the count were forgotten. */
  boolean isUnused();

  /** Whether it counts for an allowance of this kind. */
  boolean isFor(Allowance allowance);

  /** Changes the allowance, of the same kind. */
  void resize(Allowance allowance);

  static Count of(Allowance allowance, TimeMeter clock) {
    if (allowance instanceof Allowance.Concurrent concurrent) {
      return new Running(concurrent.calls());
    }
    if (allowance instanceof Allowance.PerPeriod quota) {
      return new InPeriod(quota, clock);
    }
    return new Tokens(
        Bucket.builder()
            .withCustomTimePrecision(clock)
            .addLimit(Tokens.bandwidth(allowance))
            .build());
  }

  /** Calls that are refilled evenly. */
  record Tokens(Bucket bucket) implements Count {
    private static Bandwidth bandwidth(Allowance allowance) {
      boolean isRate = allowance instanceof Allowance.Rate;
      long capacity = isRate ? ((Allowance.Rate) allowance).burst() : allowance.calls();
      Duration window =
          isRate ? ((Allowance.Rate) allowance).window() : ((Allowance.Repeats) allowance).window();
      return Bandwidth.builder()
          .capacity(capacity)
          .refillGreedy(allowance.calls(), window)
          .id("")
          .build();
    }

    @Override
    public long take() {
      ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(1);
      return probe.isConsumed() ? 0 : Math.max(1, probe.getNanosToWaitForRefill());
    }

    @Override
    public void end() {}

    @Override
    public void giveBack() {
      bucket.addTokens(1);
    }

    @Override
    public long left() {
      return bucket.getAvailableTokens();
    }

    @Override
    public long resetSeconds() {
      long nanos = bucket.estimateAbilityToConsume(left() + 1).getNanosToWaitForRefill();
      return isUnused() ? 0 : Duration.ofNanos(nanos).plusMillis(999).toSeconds();
    }

    @Override
    public boolean isUnused() {
      return bucket.estimateAbilityToConsume(left() + 1).getNanosToWaitForRefill()
          == Long.MAX_VALUE;
    }

    @Override
    public boolean isFor(Allowance allowance) {
      return allowance instanceof Allowance.Rate || allowance instanceof Allowance.Repeats;
    }

    @Override
    public void resize(Allowance allowance) {
      bucket.replaceConfiguration(
          BucketConfiguration.builder().addLimit(bandwidth(allowance)).build(),
          TokensInheritanceStrategy.PROPORTIONALLY);
    }
  }

  /** Calls in a calendar period. */
  final class InPeriod implements Count {
    private final Allowance.Period period;
    private final TimeMeter clock;
    private long limit;
    private long used;
    private long endMillis;

    private InPeriod(Allowance.PerPeriod quota, TimeMeter clock) {
      this.period = quota.period();
      this.clock = clock;
      this.limit = quota.calls();
    }

    /** Adds what was counted before a restart, if its period is not over. */
    synchronized void restore(long usedBefore, long until) {
      renew();
      if (until == endMillis) {
        used += usedBefore;
      }
    }

    synchronized long used() {
      renew();
      return used;
    }

    synchronized long endMillis() {
      return endMillis;
    }

    private long renew() {
      long now = TimeUnit.NANOSECONDS.toMillis(clock.currentTimeNanos());
      if (now >= endMillis) {
        used = 0;
        endMillis = period.next(Instant.ofEpochMilli(now)).toEpochMilli();
      }
      return endMillis - now;
    }

    @Override
    public synchronized long take() {
      long millis = renew();
      if (used >= limit) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
      }
      used++;
      return 0;
    }

    @Override
    public void end() {}

    @Override
    public synchronized void giveBack() {
      used = Math.max(0, used - 1);
    }

    @Override
    public synchronized long left() {
      renew();
      return Math.max(0, limit - used);
    }

    @Override
    public synchronized long resetSeconds() {
      return TimeUnit.MILLISECONDS.toSeconds(renew() + 999);
    }

    @Override
    public boolean isUnused() {
      return used() == 0;
    }

    @Override
    public boolean isFor(Allowance allowance) {
      return allowance instanceof Allowance.PerPeriod quota && quota.period() == period;
    }

    @Override
    public synchronized void resize(Allowance allowance) {
      limit = allowance.calls();
    }
  }

  /** Running calls. */
  final class Running implements Count {
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private long limit;
    private long running;

    private Running(long limit) {
      this.limit = limit;
    }

    @Override
    public synchronized long take() {
      if (running >= limit) {
        return RETRY_NANOS;
      }
      running++;
      return 0;
    }

    @Override
    public synchronized void end() {
      running--;
    }

    @Override
    public void giveBack() {
      end();
    }

    @Override
    public synchronized long left() {
      return Math.max(0, limit - running);
    }

    @Override
    public long resetSeconds() {
      return 0;
    }

    @Override
    public synchronized boolean isUnused() {
      return running == 0;
    }

    @Override
    public boolean isFor(Allowance allowance) {
      return allowance instanceof Allowance.Concurrent;
    }

    @Override
    public synchronized void resize(Allowance allowance) {
      limit = allowance.calls();
    }
  }
}
