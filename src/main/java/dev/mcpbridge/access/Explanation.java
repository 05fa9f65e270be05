package dev.mcpbridge.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.Principal;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Why a decision is as it is: what each rule contributes.
 *
 * @param isListed whether the entry is in the caller's lists
 */
public record Explanation(Decision decision, boolean isListed, List<RuleResult> rules) {

  /**
   * What a rule contributes.
   *
   * @param isOfCaller whether the rule is about the caller at all
   * @param mismatch why it does not apply, as a clause; null if it applies
   */
  public record RuleResult(Rule rule, boolean isOfCaller, String mismatch) {
    public boolean isAllowing() {
      return rule.isAllowing();
    }
  }

  /**
   * Explains what a caller may do.
   *
   * @param arguments of the call
   */
  public static Explanation of(
      AccessPolicy policy, Principal caller, Item item, Action action, JsonNode arguments) {
    ItemRights rights = ItemRights.of(policy.of(caller), item);
    return new Explanation(
        rights.decide(action, arguments::at),
        rights.isListed(),
        policy.rules().rules().stream()
            .map(
                rule ->
                    new RuleResult(
                        rule,
                        rule.who().mismatch(caller) == null,
                        mismatch(rule, caller, item, action, arguments)))
            .toList());
  }

  private static String mismatch(
      Rule rule, Principal caller, Item item, Action action, JsonNode arguments) {
    String who = rule.who().mismatch(caller);
    if (who != null) {
      return who;
    }
    Set<String> missing = rule.missingScopes(caller);
    if (!missing.isEmpty()) {
      return "the token lacks " + String.join(" ", new TreeSet<>(missing));
    }
    if (!rule.isAbout(action)) {
      return "it is about other actions";
    }
    String entry = rule.mismatch(item);
    return entry == null ? rule.mismatch(arguments::at) : entry;
  }
}
