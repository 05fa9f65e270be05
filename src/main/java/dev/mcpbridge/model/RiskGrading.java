package dev.mcpbridge.model;

/** How the gate grades calls. Immutable: with other rules it is another object. */
public interface RiskGrading {

  /**
   * @param rules of the target's server
   * @param destructive whether the target calls itself that
   */
  Risk grade(Target target, RiskRules rules, boolean destructive);
}
