package dev.mcpbridge.access;

import static dev.mcpbridge.access.AccessFixture.ANALYST;
import static dev.mcpbridge.access.AccessFixture.json;
import static dev.mcpbridge.access.AccessFixture.policy;
import static dev.mcpbridge.access.AccessFixture.tool;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.model.RiskLevel;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule says why it does not apply, by the first reason. */
class ExplanationTest {
  private static Explanation explain(String rules) {
    return Explanation.of(
        policy(rules), ANALYST, tool("git", "push"), Action.CALL, json("{'branch':'main'}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      nullValues = "applies",
      textBlock =
          """
          'allow':['call']                                                => applies
          'allow':['call'],'who':{'roles':['other']},'servers':['x']      => the caller has none of the roles
          'allow':['call'],'who':{'anonymous':true}                       => the caller has a credential
          'allow':['call'],'who':{'principals':['bob']}                   => the caller is not one of the principals
          'allow':['call'],'who':{'keys':['edge']}                        => the caller has none of the keys
          'allow':['call'],'who':{'issuers':['evil']}                     => no token of one of the issuers
          'allow':['call'],'who':{'clients':['bot']}                      => no token of one of the clients
          'allow':['call'],'who':{'scopes':['git:write']}                 => the caller has none of the scopes
          'allow':['call'],'needs':['git:b','git:a'],'servers':['x']      => the token lacks git:a git:b
          'allow':['call'],'needs':['mcp:call']                           => applies
          'allow':['list']                                                => it is about other actions
          'allow':['call'],'servers':['x'],'tools':['y']                  => it is about other servers
          'allow':['call','get'],'prompts':['push']                       => it is about entries of another kind
          'allow':['call'],'tools':['log']                                => it is about other names
          """)
  void ruleIsExplained(String rule, String mismatch) {
    Explanation explanation = explain("{'name':'r'," + rule + "}");

    assertEquals(mismatch, explanation.rules().get(0).mismatch());
    assertEquals(mismatch == null, explanation.decision() instanceof Decision.Allowed);
  }

  @Test
  void argumentThatDoesNotFitIsNamed() {
    String mismatch =
        explain("{'name':'r','allow':['call'],'arguments':{'/branch':{'equals':'dev'}}}")
            .rules()
            .get(0)
            .mismatch();

    assertTrue(mismatch.contains("/branch"), mismatch);
  }

  @Test
  void everyRuleIsListedWithItsEffectAndWhetherItIsOfTheCaller() {
    Explanation explanation =
        explain(
            "{'name':'a','allow':['call'],'risk':2},"
                + "{'name':'d','deny':['call'],'who':{'roles':['other']}},"
                + "{'name':'n','allow':['call'],'needs':['git:write']}");

    assertEquals(new Decision.Allowed("a", RiskLevel.MEDIUM), explanation.decision());
    assertTrue(explanation.isListed());
    assertEquals(
        List.of("a", "d", "n"),
        explanation.rules().stream().map(each -> each.rule().name()).toList());
    assertEquals(
        List.of(true, false, true),
        explanation.rules().stream().map(Explanation.RuleResult::isAllowing).toList());
    assertEquals(
        List.of(true, false, true),
        explanation.rules().stream().map(Explanation.RuleResult::isOfCaller).toList());
  }

  @Test
  void refusalNamesItsRuleAndTheMissingScopes() {
    assertEquals(
        new Decision.Refused("n", Set.of("git:write")),
        explain("{'name':'n','allow':['call'],'needs':['git:write']}").decision());
    assertEquals(
        new Decision.Refused("d", Set.of()),
        explain("{'name':'a','allow':['call']},{'name':'d','deny':['call']}").decision());
    assertFalse(explain("").isListed());
    assertEquals(new Decision.Refused(Decision.DEFAULT, Set.of()), explain("").decision());
  }
}
