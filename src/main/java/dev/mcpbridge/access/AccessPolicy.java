package dev.mcpbridge.access;

import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The access rules, and whom they concern. Some rule that denies is enough to refuse; else some
 * rule that allows is needed, or the default. The order of the rules means nothing. Confined to the
 * event loop of the doors; new rules are a new object.
 */
public final class AccessPolicy {
  private static final int MAX_PRINCIPALS = 10_000;
  private static final int MAX_RIGHTS = 256;

  private final AccessRules rules;
  private final Map<Principal, Rights> byPrincipal = new BoundedMap<>(MAX_PRINCIPALS);
  private final Map<Object, Rights> byRules = new BoundedMap<>(MAX_RIGHTS);

  /** The rules that count for a caller, by which callers with the same rights are recognized. */
  private record Selection(
      boolean isAdmin, List<Rule> allowing, List<Rule> lacking, List<Rule> denying) {
    Selection {
      allowing = List.copyOf(allowing);
      lacking = List.copyOf(lacking);
      denying = List.copyOf(denying);
    }
  }

  public AccessPolicy(AccessRules rules) {
    this.rules = rules;
  }

  public AccessRules rules() {
    return rules;
  }

  /** The rights of a caller. */
  public Rights of(Principal caller) {
    Rights known = byPrincipal.get(caller);
    if (known == null) {
      known = select(caller);
      byPrincipal.put(caller, known);
    }
    return known;
  }

  private Rights select(Principal caller) {
    List<Rule> allowing = new ArrayList<>();
    List<Rule> lacking = new ArrayList<>();
    List<Rule> denying = new ArrayList<>();
    for (Rule rule : rules.rules()) {
      if (rule.who().mismatch(caller) != null) {
        continue;
      }
      if (!rule.isAllowing()) {
        denying.add(rule);
      } else if (rule.missingScopes(caller).isEmpty()) {
        allowing.add(rule);
      } else if (caller.token() != null) {
        lacking.add(rule);
      }
    }
    Selection selection = new Selection(caller.may(Scope.ADMIN), allowing, lacking, denying);
    return byRules.computeIfAbsent(
        selection,
        key ->
            new Rights(
                rules.allowsByDefault(),
                selection.isAdmin(),
                selection.allowing(),
                selection.lacking(),
                selection.denying()));
  }
}
