package dev.mcpbridge.error;

/** What is known of a failed call's effect at the upstream: the honest answer to "did it run?". */
public enum Executed {
  /** It surely did not reach the upstream; a repetition is safe. */
  NO("no"),
  /** It was sent and no answer came; it may have run. */
  UNKNOWN("unknown"),
  /** The upstream answered; only the answer could not be used. */
  YES("yes");

  private final String word;

  Executed(String word) {
    this.word = word;
  }

  /** The word used on the wire. */
  public String word() {
    return word;
  }
}
