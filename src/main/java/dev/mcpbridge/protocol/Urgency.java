package dev.mcpbridge.protocol;

/**
 * How urgent a call is: 0 is the most urgent, 7 the least (RFC 9218 section 4.1). Of calls that
 * wait for the same server, each urgency has twice the share of the next.
 */
public final class Urgency {
  /** What a call has whose client does not say. */
  public static final int USUAL = 3;

  /** What a call has at the most whose client does not wait for it, unless it says otherwise. */
  public static final int BACKGROUND = 5;

  public static final int LEAST = 7;

  /** The last that counts as urgent: for such calls, slots are kept free. */
  public static final int LAST_URGENT = 2;

  public static final int UNSPECIFIED = -1;

  /** Unspecified, of a call whose client does not wait for it. */
  public static final int UNSPECIFIED_IN_BACKGROUND = -2;

  private Urgency() {}

  /** The usual one if it is not specified. */
  public static int orUsual(int urgency) {
    return urgency < 0 ? USUAL : urgency;
  }

  /** Whether a client may ask for it. */
  public static boolean isValid(long urgency) {
    return urgency >= 0 && urgency <= LEAST;
  }
}
