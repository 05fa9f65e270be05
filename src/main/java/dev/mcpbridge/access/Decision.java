package dev.mcpbridge.access;

import dev.mcpbridge.model.RiskLevel;
import java.util.Set;

/** The answer to whether a caller may do something. */
public sealed interface Decision {
  /** Name of the decision if no rule applies. */
  String DEFAULT = "default";

  /** The rule that decided, or {@link #DEFAULT}. */
  String rule();

  /**
   * @param risk level that the call has at least
   */
  record Allowed(String rule, RiskLevel risk) implements Decision {}

  /**
   * @param needs scopes of a token with which the rule would allow it; empty if no token would help
   */
  record Refused(String rule, Set<String> needs) implements Decision {}
}
