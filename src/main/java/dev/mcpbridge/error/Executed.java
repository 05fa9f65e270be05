package dev.mcpbridge.error;

import java.util.Locale;

/** Whether a failed call was executed by the upstream, as far as the bridge knows. */
public enum Executed {
  /** It certainly did not reach the upstream; a retry is safe. */
  NO,
  /** It was sent but not answered; it may have been executed. */
  UNKNOWN,
  /** The upstream answered, but the answer was unusable. */
  YES;

  /** The value on the wire. */
  public String apiName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
