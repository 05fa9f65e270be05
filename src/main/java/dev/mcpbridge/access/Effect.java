package dev.mcpbridge.access;

import dev.mcpbridge.model.RiskLevel;
import java.util.Set;

/**
 * What a rule does.
 *
 * @param isAllowing whether it allows; else it denies
 * @param actions as configured
 * @param needs scopes that a token needs in addition
 * @param risk level that the calls have at least; null to leave it
 */
public record Effect(boolean isAllowing, Set<Action> actions, Set<String> needs, RiskLevel risk) {

  /** Whether it allows or denies an action. */
  boolean isAbout(Action action) {
    for (Action each : actions) {
      if (isAllowing ? each.includes(action) : each.excludes(action)) {
        return true;
      }
    }
    return false;
  }

  /** Whether it only shows entries, and allows nothing else. */
  boolean onlyShows() {
    return isAllowing && actions.equals(Set.of(Action.LIST));
  }
}
