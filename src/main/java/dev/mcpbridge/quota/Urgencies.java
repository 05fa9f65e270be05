package dev.mcpbridge.quota;

import dev.mcpbridge.model.Principal;
import dev.mcpbridge.protocol.Urgency;
import java.util.List;

/**
 * Decides how urgent a call is: what its client asks for, within what its caller may have. The
 * first rule that fits a caller is its rule; without one, it may only ask to be less urgent than
 * usual. Thread-safe.
 */
public final class Urgencies {
  private volatile List<UrgencyRule> rules;
  private volatile boolean hasUrgentCallers;

  public Urgencies(List<UrgencyRule> rules) {
    reload(rules);
  }

  public void reload(List<UrgencyRule> newRules) {
    rules = List.copyOf(newRules);
    hasUrgentCallers = newRules.stream().anyMatch(rule -> rule.mostUrgent() <= Urgency.LAST_URGENT);
  }

  /** Whether a caller may have calls that are {@linkplain Urgency#LAST_URGENT urgent}. */
  public boolean hasUrgentCallers() {
    return hasUrgentCallers;
  }

  /**
   * The urgency of a call.
   *
   * @param asked what its client asks for; UNSPECIFIED if it does not say, and as the result for
   *     the usual
   */
  public int of(Principal caller, int asked) {
    UrgencyRule rule = ruleOf(caller);
    if (asked == Urgency.UNSPECIFIED) {
      return rule == null ? asked : rule.urgency();
    }
    if (asked == Urgency.UNSPECIFIED_IN_BACKGROUND) {
      return rule == null ? Urgency.BACKGROUND : Math.max(Urgency.BACKGROUND, rule.urgency());
    }
    return Math.max(asked, rule == null ? Urgency.USUAL : rule.mostUrgent());
  }

  private UrgencyRule ruleOf(Principal caller) {
    for (UrgencyRule rule : rules) {
      if (rule.who().fits(caller)) {
        return rule;
      }
    }
    return null;
  }
}
