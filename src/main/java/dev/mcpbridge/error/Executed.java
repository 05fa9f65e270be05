package dev.mcpbridge.error;

import java.util.Locale;

/** Whether a failed call was executed by the upstream, as far as the bridge knows. */
public enum Executed {
  /** It certainly did not reach the upstream; a retry is safe. */
  NO("Nothing was executed."),
  /** It was sent but not answered; it may have been executed. */
  UNKNOWN("Whether it was executed is not known: check before you repeat it."),
  /** The upstream answered, but the answer was unusable. */
  YES("It was executed.");

  private final String sentence;

  Executed(String sentence) {
    this.sentence = sentence;
  }

  /** For people and models. */
  public String sentence() {
    return sentence;
  }

  /** Reads the value on the wire; UNKNOWN for another one. */
  public static Executed of(String apiName) {
    return switch (apiName) {
      case "no" -> NO;
      case "yes" -> YES;
      default -> UNKNOWN;
    };
  }

  /** The value on the wire. */
  public String apiName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
