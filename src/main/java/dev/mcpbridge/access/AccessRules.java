package dev.mcpbridge.access;

import java.util.List;

/**
 * The access rules of the configuration. Immutable.
 *
 * @param isEnforced false to only report what would be refused
 * @param allowsByDefault whether what no rule is about is allowed
 * @param isExplained whether refusals name the rule
 * @param contact whom refused callers may ask; null if that is not configured
 */
public record AccessRules(
    boolean isEnforced,
    boolean allowsByDefault,
    Concealment concealment,
    boolean isExplained,
    String contact,
    List<Rule> rules) {

  /** Without access rules every caller may use everything. */
  public static final AccessRules NONE =
      new AccessRules(false, true, Concealment.NONE, true, null, List.of());

  /** What a caller learns about what it may not use. */
  public enum Concealment {
    /** A server of which it may see nothing looks like one that does not exist. */
    SERVERS,
    /** Everything that it may not use looks as if it did not exist. */
    ALL,
    /** Everything can be told from what does not exist. */
    NONE
  }

  /** Whether lists may differ by caller. */
  public boolean restrict() {
    return isEnforced && !(allowsByDefault && rules.isEmpty());
  }
}
