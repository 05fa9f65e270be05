package dev.mcpbridge.model;

/** Determines the risk level of calls. Immutable; new rules result in a new object. */
public interface RiskGrading {

  /**
   * @param rules rules of the target's server
   * @param destructive whether the target has the annotation {@code destructiveHint}
   */
  Risk grade(Target target, RiskRules rules, boolean destructive);
}
