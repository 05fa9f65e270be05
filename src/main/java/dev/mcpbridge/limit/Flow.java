package dev.mcpbridge.limit;

/**
 * The items of one caller with one urgency, which take their turns in order of arrival.
 *
 * @param urgency 0 is the most urgent, 7 the least (RFC 9218 section 4.1)
 */
public record Flow(String caller, int urgency) {
  private static final int USUAL = 3;

  /** The flow of a caller whose items are all equally urgent. */
  public static Flow of(String caller) {
    return new Flow(caller, USUAL);
  }

  /** Whether slots are kept for its items. */
  public boolean isUrgent() {
    return urgency < USUAL;
  }

  /** Its share beside others: each urgency has twice that of the next, and the usual one has 1. */
  double weight() {
    return Math.scalb(1.0, USUAL - urgency);
  }
}
