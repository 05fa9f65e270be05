package dev.mcpbridge.pins;

import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.PinRules.Reaction;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.Locale;

/**
 * What is known about one definition.
 *
 * @param isHeld whether it is not offered
 * @param current as the server defines it; null if it does not any longer
 * @param digest of the current definition; null without one
 * @param pin what was decided about it; null if nothing was
 */
public record Judgement(
    Definition.Name name, State state, boolean isHeld, JsonSlice current, String digest, Pin pin) {

  /** The members that count of the current definition, in their canonical form. */
  public JsonSlice canonical() {
    return DigestVersion.ALL.get(0).canonical(name.kind(), current);
  }

  /** How a definition compares with the approved one. */
  public enum State {
    APPROVED,
    CHANGED,
    NEW,
    BLOCKED,
    /** Its server does not offer it at present. */
    MISSING;

    /** The value in the API. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a person should look at it, by the rules of its server. */
    public boolean isOpen(PinRules rules) {
      return this == NEW || this == CHANGED && rules.changed() != Reaction.OFF;
    }
  }
}
