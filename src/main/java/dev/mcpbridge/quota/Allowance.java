package dev.mcpbridge.quota;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;

/** How many calls a quota allows. */
public sealed interface Allowance {
  /** The number of calls. */
  long calls();

  /** The same for one of several nodes that share it, at least one call. */
  Allowance sharedBy(int nodes);

  /** The seconds in which it allows its calls; 0 if that depends on running calls. */
  default long windowSeconds() {
    if (this instanceof Rate rate) {
      return rate.window().toSeconds();
    }
    return this instanceof PerPeriod quota ? quota.period().seconds() : 0;
  }

  private static long share(long calls, int nodes) {
    return Math.max(1, calls / nodes);
  }

  /**
   * A rate, evenly refilled.
   *
   * @param burst calls at once after a pause
   */
  record Rate(long calls, Duration window, long burst) implements Allowance {
    @Override
    public Rate sharedBy(int nodes) {
      return new Rate(share(calls, nodes), window, share(burst, nodes));
    }
  }

  /** Calls in a calendar period, in UTC. */
  record PerPeriod(long calls, Period period) implements Allowance {
    @Override
    public PerPeriod sharedBy(int nodes) {
      return new PerPeriod(share(calls, nodes), period);
    }
  }

  /** Running calls. */
  record Concurrent(long calls) implements Allowance {
    @Override
    public Concurrent sharedBy(int nodes) {
      return new Concurrent(share(calls, nodes));
    }
  }

  /** Repetitions of the same call with the same arguments. */
  record Repeats(long calls, Duration window) implements Allowance {
    @Override
    public Repeats sharedBy(int nodes) {
      return new Repeats(share(calls, nodes), window);
    }
  }

  /** A calendar period. */
  enum Period {
    HOUR,
    DAY,
    MONTH;

    /** The longest duration of the period. */
    private long seconds() {
      return switch (this) {
        case HOUR -> 3_600;
        case DAY -> 86_400;
        case MONTH -> 31 * 86_400;
      };
    }

    /** The start of the period after the one of a time. */
    Instant next(Instant now) {
      ZonedDateTime time = now.atZone(ZoneOffset.UTC);
      ZonedDateTime next =
          switch (this) {
            case HOUR -> time.truncatedTo(ChronoUnit.HOURS).plusHours(1);
            case DAY -> time.truncatedTo(ChronoUnit.DAYS).plusDays(1);
            case MONTH -> time.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1).plusMonths(1);
          };
      return next.toInstant();
    }
  }
}
