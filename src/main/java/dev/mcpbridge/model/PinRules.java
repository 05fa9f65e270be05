package dev.mcpbridge.model;

import java.util.Locale;

/**
 * What happens to definitions of a server that are not the approved ones.
 *
 * @param changed for a definition that differs from the approved one
 * @param added for a definition that has none
 * @param trustsFirst whether the definitions of a server that has no approved ones yet are approved
 *     when it is first seen
 */
public record PinRules(Reaction changed, Reaction added, boolean trustsFirst) {
  public static final PinRules OFF = new PinRules(Reaction.OFF, Reaction.OFF, true);

  /** What happens. */
  public enum Reaction {
    /** Nothing; a new definition is approved as it is. */
    OFF,
    /** It is reported. */
    WARN,
    /** It is reported and not offered. */
    BLOCK;

    /** The value in the configuration and in the API. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Whether definitions are not compared at all. */
  public boolean isOff() {
    return changed == Reaction.OFF && added == Reaction.OFF;
  }

  /** Whether every definition without an approval is held, except the first ones. */
  public boolean holdsAll() {
    return changed == Reaction.BLOCK && added == Reaction.BLOCK;
  }
}
