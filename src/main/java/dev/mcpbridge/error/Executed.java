package dev.mcpbridge.error;

/** Whether a failed call was executed by the upstream, as far as the bridge knows. */
public enum Executed {
  /** It certainly did not reach the upstream; a retry is safe. */
  NO("no"),
  /** It was sent but not answered; it may have been executed. */
  UNKNOWN("unknown"),
  /** The upstream answered, but the answer was unusable. */
  YES("yes");

  private final String value;

  Executed(String value) {
    this.value = value;
  }

  /** The value on the wire. */
  public String apiName() {
    return value;
  }
}
