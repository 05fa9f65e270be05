package dev.mcpbridge.limit;

import dev.mcpbridge.protocol.Urgency;

/**
 * The items of one caller with one urgency, which take their turns in order of arrival.
 *
 * @param urgency as in {@link Urgency}
 */
public record Flow(String caller, int urgency) {
  /** The flow of a caller whose items are all equally urgent. */
  public static Flow of(String caller) {
    return new Flow(caller, Urgency.USUAL);
  }

  /** Whether slots are kept for its items. */
  public boolean isUrgent() {
    return urgency <= Urgency.LAST_URGENT;
  }

  /** Its share beside others: each urgency has twice that of the next, and the usual one has 1. */
  double weight() {
    return Math.scalb(1.0, Urgency.USUAL - urgency);
  }
}
