package dev.mcpbridge.access;

/**
 * Why a caller was refused, as the cause of what it is told: the audit trail has the rule even if
 * the caller must not learn that there is one.
 */
public final class DeniedByRule extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String rule;

  /**
   * @param rule name of the rule, or {@link Decision#DEFAULT}
   */
  public DeniedByRule(String rule) {
    super("denied by the access rule " + rule, null, false, false);
    this.rule = rule;
  }

  public String rule() {
    return rule;
  }
}
