package dev.mcpbridge.access;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.RiskLevel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What some callers may do with one entry: the rules that are about both, from which lists and
 * calls are decided. Immutable.
 */
public final class ItemRights {
  private final boolean allowsByDefault;
  private final Item.Kind kind;
  private final List<Rule> allowing = new ArrayList<>(2);
  private final List<Rule> lacking = new ArrayList<>(0);
  private final List<Rule> denying = new ArrayList<>(0);
  private final boolean isListed;

  /** The decision about the first use of the kind, if it does not depend on arguments. */
  private final Decision fixed;

  /**
   * @param rights those about the server and the kind of the entry
   */
  ItemRights(Rights rights, Item item) {
    this.allowsByDefault = rights.allowsByDefault();
    this.kind = item.kind();
    select(rights.allowing(), item, allowing);
    select(rights.lacking(), item, lacking);
    select(rights.denying(), item, denying);
    this.fixed = isConditional() ? null : decided(kind.use(), place -> null);
    this.isListed = mayBeSeen() || kind.uses().stream().anyMatch(this::couldPass);
  }

  /** The rights of some callers at an entry. */
  static ItemRights of(Rights rights, Item item) {
    return new ItemRights(rights.about(item.server(), item.kind()), item);
  }

  private static void select(List<Rule> rules, Item item, List<Rule> selected) {
    for (Rule rule : rules) {
      if (rule.items().mismatchInKind(item, rule.isAllowing()) == null) {
        selected.add(rule);
      }
    }
  }

  /** Whether the entry is in lists: exactly if some arguments could pass, or a rule shows it. */
  public boolean isListed() {
    return isListed;
  }

  private boolean mayBeSeen() {
    return allowing.stream().anyMatch(rule -> rule.effect().onlyShows())
        && denying.stream().noneMatch(rule -> isUnconditional(rule, Action.LIST));
  }

  /** The risk level that the rules raise every call to, whatever its arguments. */
  public RiskLevel leastRisk() {
    RiskLevel least = RiskLevel.LOW;
    for (Rule rule : allowing) {
      if (rule.isAbout(kind.use()) && rule.isUnconditional()) {
        least = higher(least, rule.effect().risk());
      }
    }
    return least;
  }

  private static boolean isUnconditional(Rule rule, Action action) {
    return rule.isAbout(action) && rule.isUnconditional();
  }

  /** Whether an action could be allowed with some arguments, or with a token of more scopes. */
  private boolean couldPass(Action action) {
    return couldPassNow(action) || isPassable(lacking, action);
  }

  /** Whether an action could be allowed with some arguments. */
  private boolean couldPassNow(Action action) {
    boolean isDefault =
        allowsByDefault && denying.stream().noneMatch(rule -> isUnconditional(rule, action));
    return isDefault || isPassable(allowing, action);
  }

  /** A rule is of no use if one that denies has no conditions but those of this rule. */
  private boolean isPassable(List<Rule> rules, Action action) {
    return rules.stream()
        .filter(rule -> rule.isAbout(action))
        .anyMatch(
            rule ->
                denying.stream()
                    .noneMatch(
                        no -> no.isAbout(action) && rule.arguments().containsAll(no.arguments())));
  }

  /**
   * Decides. A completion has no arguments yet, so that conditions on them do not count.
   *
   * @param arguments the value of an argument, asked for only if a rule has a condition on it
   */
  public Decision decide(Action action, Function<JsonPointer, JsonNode> arguments) {
    return fixed != null && action == kind.use() ? fixed : decided(action, arguments);
  }

  private boolean isConditional() {
    return Stream.of(allowing, lacking, denying)
        .flatMap(List::stream)
        .anyMatch(rule -> !rule.isUnconditional());
  }

  private Decision decided(Action action, Function<JsonPointer, JsonNode> arguments) {
    if (action == Action.COMPLETE && couldPassNow(action)) {
      return new Decision.Allowed(nameOf(action), RiskLevel.LOW);
    }
    for (Rule rule : denying) {
      if (applies(rule, action, arguments)) {
        return new Decision.Refused(rule.name(), Set.of());
      }
    }
    Rule allowed = null;
    RiskLevel risk = RiskLevel.LOW;
    for (Rule rule : allowing) {
      if (applies(rule, action, arguments)) {
        allowed = allowed == null ? rule : allowed;
        risk = higher(risk, rule.effect().risk());
      }
    }
    if (allowed != null || allowsByDefault) {
      return new Decision.Allowed(allowed == null ? Decision.DEFAULT : allowed.name(), risk);
    }
    return lacking.stream()
        .filter(rule -> applies(rule, action, arguments))
        .min(Comparator.comparingInt(rule -> rule.effect().needs().size()))
        .map(rule -> new Decision.Refused(rule.name(), rule.effect().needs()))
        .orElse(new Decision.Refused(Decision.DEFAULT, Set.of()));
  }

  private static RiskLevel higher(RiskLevel one, RiskLevel other) {
    return other == null || other.compareTo(one) < 0 ? one : other;
  }

  private String nameOf(Action action) {
    return allowing.stream()
        .filter(rule -> rule.isAbout(action))
        .map(Rule::name)
        .findFirst()
        .orElse(Decision.DEFAULT);
  }

  private boolean applies(Rule rule, Action action, Function<JsonPointer, JsonNode> arguments) {
    return rule.isAbout(action) && (rule.isUnconditional() || rule.mismatch(arguments) == null);
  }
}
