package dev.mcpbridge.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.access.AccessRules.Concealment;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Random rules, tools and callers, compared with an oracle that tries all arguments. */
class AccessPropertiesTest {
  private static final List<String> SERVERS = List.of("git", "files");
  private static final List<String> TOOLS = List.of("log", "push", "read");
  private static final List<String> ROLES = List.of("dev", "bot");
  private static final List<String> SCOPES = List.of("git:write", "git:read");

  /** Every value that an argument can have, as far as the conditions can tell; null for absent. */
  private static final List<JsonNode> VALUES = new ArrayList<>();

  static {
    VALUES.add(null);
    VALUES.add(TextNode.valueOf("text"));
    for (int number = 0; number <= 4; number++) {
      VALUES.add(IntNode.valueOf(number));
    }
  }

  /** Values that some conditions match, some do not, and some cannot judge. */
  private static final List<JsonNode> ODD_VALUES = new ArrayList<>();

  static {
    ODD_VALUES.add(null);
    for (String value :
        List.of("1", "2.5", "true", "'/srv/a'", "'/srv/../etc'", "'text'", "{'a':1}", "[1]")) {
      ODD_VALUES.add(AccessFixture.json(value));
    }
  }

  /** Conditions of every kind. */
  private static final List<Operator> OPERATORS =
      List.of(
          Operator.present(),
          Operator.absent(),
          Operator.in(List.of(IntNode.valueOf(1), TextNode.valueOf("text"))),
          Operator.not(IntNode.valueOf(1)),
          Operator.prefix("te"),
          Operator.glob("*x*"),
          Operator.matches("[a-z]+"),
          Operator.under("/srv"),
          Operator.maxLength(4),
          Operator.min(BigDecimal.valueOf(2)),
          Operator.max(BigDecimal.ONE));

  @Property
  void listedExactlyIfSomeArgumentsCouldPass(
      @ForAll("rules") AccessRules rules, @ForAll("callers") Principal caller) {
    AccessPolicy policy = new AccessPolicy(rules);
    for (Item tool : tools()) {
      ItemRights rights = ItemRights.of(policy.of(caller), tool);

      assertEquals(somePass(rights, rules, caller, tool), rights.isListed(), tool::toString);
    }
  }

  /**
   * With conditions of every kind, of which rules may have several on an argument. A tool may be
   * listed then although all arguments are refused.
   */
  @Property
  void nothingThatCouldPassIsHidden(
      @ForAll("rulesOfEveryKind") AccessRules rules, @ForAll("callers") Principal caller) {
    for (Item tool : tools()) {
      ItemRights rights = ItemRights.of(new AccessPolicy(rules).of(caller), tool);
      for (JsonNode a : ODD_VALUES) {
        for (JsonNode b : ODD_VALUES) {
          ObjectNode arguments = arguments(a, b);
          boolean isAllowed = passes(rights.decide(Action.CALL, arguments::at));

          assertEquals(expected(rules, caller, tool, arguments), isAllowed, arguments::toString);
          assertTrue(rights.isListed() || !isAllowed, arguments::toString);
        }
      }
    }
  }

  /** A tool is also listed if a token with more scopes would help, or if a rule only shows it. */
  private static boolean somePass(
      ItemRights rights, AccessRules rules, Principal caller, Item tool) {
    if (isShown(rules, caller, tool)) {
      return true;
    }
    for (JsonNode a : VALUES) {
      for (JsonNode b : VALUES) {
        ObjectNode arguments = arguments(a, b);
        Decision decision = rights.decide(Action.CALL, arguments::at);
        boolean isHelpedByMoreScopes =
            decision instanceof Decision.Refused refused && !refused.needs().isEmpty();
        if (decision instanceof Decision.Allowed || isHelpedByMoreScopes) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean passes(Decision decision) {
    return decision instanceof Decision.Allowed;
  }

  private static boolean isShown(AccessRules rules, Principal caller, Item tool) {
    List<Rule> fitting =
        rules.rules().stream()
            .filter(rule -> rule.who().mismatch(caller) == null && rule.mismatch(tool) == null)
            .filter(rule -> rule.missingScopes(caller).isEmpty())
            .toList();
    return fitting.stream().anyMatch(rule -> rule.effect().onlyShows())
        && fitting.stream()
            .noneMatch(
                rule -> !rule.isAllowing() && rule.isAbout(Action.LIST) && rule.isUnconditional());
  }

  /** The meaning of the rules, without any shortcut. */
  @Property
  void decisionIsThatOfTheRulesReadOneByOne(
      @ForAll("rules") AccessRules rules,
      @ForAll("callers") Principal caller,
      @ForAll("values") JsonNode a,
      @ForAll("values") JsonNode b) {
    ObjectNode arguments = arguments(a, b);
    for (Item tool : tools()) {
      Decision decision =
          ItemRights.of(new AccessPolicy(rules).of(caller), tool)
              .decide(Action.CALL, arguments::at);

      assertEquals(expected(rules, caller, tool, arguments), passes(decision), tool::toString);
    }
  }

  private static boolean expected(
      AccessRules rules, Principal caller, Item tool, ObjectNode arguments) {
    boolean isAllowed = rules.allowsByDefault();
    for (Rule rule : rules.rules()) {
      boolean applies =
          rule.who().mismatch(caller) == null
              && rule.isAbout(Action.CALL)
              && rule.mismatch(tool) == null
              && rule.mismatch(arguments::at) == null;
      if (applies && !rule.isAllowing()) {
        return false;
      }
      isAllowed |= applies && rule.missingScopes(caller).isEmpty();
    }
    return isAllowed;
  }

  @Property
  void orderOfTheRulesMeansNothing(
      @ForAll("rules") AccessRules rules, @ForAll("callers") Principal caller, @ForAll long seed) {
    List<Rule> shuffled = new ArrayList<>(rules.rules());
    Collections.shuffle(shuffled, new Random(seed));
    AccessRules other = with(rules, shuffled, rules.allowsByDefault());
    for (Item tool : tools()) {
      ItemRights one = ItemRights.of(new AccessPolicy(rules).of(caller), tool);
      ItemRights two = ItemRights.of(new AccessPolicy(other).of(caller), tool);
      assertEquals(one.isListed(), two.isListed());
      for (JsonNode a : VALUES) {
        ObjectNode arguments = arguments(a, null);
        assertEquals(outcome(one, arguments), outcome(two, arguments));
      }
    }
  }

  private static Object outcome(ItemRights rights, ObjectNode arguments) {
    Decision decision = rights.decide(Action.CALL, arguments::at);
    return decision instanceof Decision.Allowed allowed ? allowed.risk() : "refused";
  }

  private static AccessRules with(AccessRules rules, List<Rule> others, boolean allowsByDefault) {
    return new AccessRules(true, allowsByDefault, rules.concealment(), true, null, others);
  }

  private static ObjectNode arguments(JsonNode a, JsonNode b) {
    ObjectNode arguments = Json.object();
    if (a != null) {
      arguments.set("a", a);
    }
    if (b != null) {
      arguments.set("b", b);
    }
    return arguments;
  }

  private static List<Item> tools() {
    List<Item> tools = new ArrayList<>();
    for (String server : SERVERS) {
      for (String tool : TOOLS) {
        ObjectNode annotations = Json.object().put("readOnlyHint", !tool.equals("push"));
        tools.add(Item.tool(new ServerId(server), tool, annotations));
      }
    }
    return tools;
  }

  @Provide
  Arbitrary<JsonNode> values() {
    return Arbitraries.of(VALUES.subList(1, VALUES.size())).injectNull(0.2);
  }

  @Provide
  Arbitrary<Principal> callers() {
    Arbitrary<Set<String>> roles = Arbitraries.subsetOf(ROLES);
    Arbitrary<Set<String>> scopes = Arbitraries.subsetOf(SCOPES);
    Arbitrary<Principal> withToken =
        Combinators.combine(roles, scopes)
            .as(
                (role, scope) ->
                    new Principal(
                        "corp|alice",
                        Set.of(Scope.CALL),
                        role,
                        new Principal.Token("corp", "app", Long.MAX_VALUE, scope, Map.of())));
    Arbitrary<Principal> withKey =
        roles.map(role -> new Principal("edge", Set.of(Scope.CALL), role, null));
    return Arbitraries.oneOf(withToken, withKey, Arbitraries.just(Principal.ANONYMOUS));
  }

  @Provide
  Arbitrary<AccessRules> rules() {
    return rules(conditions());
  }

  @Provide
  Arbitrary<AccessRules> rulesOfEveryKind() {
    Arbitrary<Condition> condition =
        Combinators.combine(
                Arbitraries.of("/a", "/b"), Arbitraries.integers().between(0, OPERATORS.size() - 1))
            .as(
                (pointer, kind) ->
                    new Condition(
                        JsonPointer.compile(pointer), "operator " + kind, OPERATORS.get(kind)));
    return rules(condition.list().ofMaxSize(3));
  }

  private static Arbitrary<AccessRules> rules(Arbitrary<List<Condition>> conditions) {
    return Combinators.combine(rule(conditions).list().ofMaxSize(6), Arbitraries.of(true, false))
        .as(
            (rules, allowsByDefault) ->
                new AccessRules(true, allowsByDefault, Concealment.SERVERS, true, null, rules));
  }

  private static Arbitrary<Rule> rule(Arbitrary<List<Condition>> conditions) {
    return Combinators.combine(effect(), who(), items(), conditions)
        .as((effect, who, items, some) -> new Rule("r", effect, who, items, some));
  }

  private static Arbitrary<Effect> effect() {
    Arbitrary<Set<Action>> actions =
        Arbitraries.of(
            Set.of(Action.CALL),
            Set.of(Action.LIST, Action.CALL),
            Set.of(Action.LIST),
            Set.of(Action.READ));
    Arbitrary<Set<String>> needs = Arbitraries.subsetOf(SCOPES).filter(set -> set.size() < 2);
    Arbitrary<Effect> allowing =
        Combinators.combine(actions, needs, Arbitraries.of(RiskLevel.values()).injectNull(0.7))
            .as((action, need, risk) -> new Effect(true, action, need, risk));
    return Arbitraries.frequencyOf(
        net.jqwik.api.Tuple.of(3, allowing),
        net.jqwik.api.Tuple.of(1, actions.map(a -> new Effect(false, a, Set.of(), null))));
  }

  private static Arbitrary<Who> who() {
    return Combinators.combine(Arbitraries.subsetOf(ROLES), Arbitraries.of(Who.Credential.values()))
        .as(
            (roles, credential) ->
                new Who(List.of(), Set.of(), Set.of(), roles, Set.of(), Set.of(), credential));
  }

  private static Arbitrary<Items> items() {
    Arbitrary<Names> servers =
        Arbitraries.of(Names.ALL, Names.of(List.of("git")), Names.of(List.of("!git")));
    Arbitrary<Map<Item.Kind, Names>> names =
        Arbitraries.of(
            Map.of(),
            Map.of(Item.Kind.TOOL, Names.of(List.of("*", "!push"))),
            Map.of(Item.Kind.TOOL, Names.of(List.of("push"))),
            Map.of(Item.Kind.RESOURCE, Names.ALL));
    return Combinators.combine(servers, names)
        .as((server, name) -> new Items(server, name, List.of()));
  }

  /**
   * A rule has at most one condition on each argument, so that a rule that denies something covers
   * one that allows it only if it has the same condition.
   */
  private static Arbitrary<List<Condition>> conditions() {
    return Combinators.combine(condition("/a").injectNull(0.6), condition("/b").injectNull(0.8))
        .as(
            (a, b) -> {
              List<Condition> conditions = new ArrayList<>();
              Collections.addAll(conditions, a, b);
              conditions.removeIf(each -> each == null);
              return conditions;
            });
  }

  private static Arbitrary<Condition> condition(String pointer) {
    return Arbitraries.integers()
        .between(1, 3)
        .map(
            number ->
                new Condition(
                    JsonPointer.compile(pointer),
                    "equals " + number,
                    Operator.in(List.of(IntNode.valueOf(number)))));
  }
}
