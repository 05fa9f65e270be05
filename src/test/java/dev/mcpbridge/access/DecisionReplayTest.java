package dev.mcpbridge.access;

import static dev.mcpbridge.access.AccessFixture.json;
import static dev.mcpbridge.access.AccessFixture.policy;
import static dev.mcpbridge.access.AccessFixture.section;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.access.DecisionReplay.Result;
import dev.mcpbridge.access.DecisionReplay.Verdict;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Recorded calls under other rules. */
class DecisionReplayTest {
  private static final String CALL =
      "'event':'call.decision','kind':'tool','server':'git','name':'push','decision':'allow'";
  private static final String REFUSED =
      "'event':'call.decision','kind':'tool','server':'git','name':'push','decision':'refuse'";
  private static final String BY_KEY =
      ",'principal':'edge','scopes':['read','call'],'roles':['sensor']";
  private static final String BY_TOKEN =
      ",'principal':'corp|alice','client':'app','scopes':['mcp:call'],'roles':['analyst']";

  private static Optional<Result> judge(AccessPolicy policy, String record) {
    return new DecisionReplay(policy.rules()).judge(json("{" + record + "}"));
  }

  private static Optional<Result> judge(String rules, String record) {
    return judge(policy(rules), record);
  }

  private static Optional<Result> result(Verdict verdict, String rule) {
    return Optional.of(new Result(verdict, rule));
  }

  @Test
  void verdictComparesTheRecordWithTheRules() {
    String allow = "{'name':'a','allow':['call']}";
    String deny = allow + ",{'name':'d','deny':['call']}";

    assertEquals(result(Verdict.SAME, "a"), judge(allow, CALL + BY_KEY));
    assertEquals(result(Verdict.NOW_REFUSED, "d"), judge(deny, CALL + BY_KEY));
    assertEquals(result(Verdict.NOW_ALLOWED, "a"), judge(allow, REFUSED + ",'rule':'x'" + BY_KEY));
    assertEquals(result(Verdict.SAME, "d"), judge(deny, REFUSED + ",'rule':'x'" + BY_KEY));
    assertEquals(result(Verdict.NOW_REFUSED, Decision.DEFAULT), judge("", CALL + BY_KEY));
  }

  @Test
  void withoutRulesEverythingIsAllowed() {
    AccessPolicy none = new AccessPolicy(AccessRules.NONE);

    assertEquals(result(Verdict.SAME, Decision.DEFAULT), judge(none, CALL + BY_KEY));
    assertEquals(
        result(Verdict.NOW_ALLOWED, Decision.DEFAULT),
        judge(none, REFUSED + ",'rule':'x'" + BY_KEY));
    assertEquals(
        result(Verdict.SAME, Decision.DEFAULT),
        judge(section("'default':'allow','rules':[]"), CALL + BY_KEY));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'event':'call.end','kind':'tool','server':'git','name':'push','decision':'allow'",
        "'event':'call.decision','kind':'completion','server':'git','name':'push','decision':'allow'",
        CALL + ",'confirmation':'c'",
        REFUSED,
        REFUSED + ",'code':'rate_limited'",
        // without the scope of the bridge, which rules do not give
        REFUSED + ",'code':'forbidden'",
        REFUSED + ",'code':'insufficient_scope'"
      })
  void otherRecordsAreNotJudged(String record) {
    assertEquals(Optional.empty(), judge("{'name':'a','allow':['call']}", record + BY_KEY));
  }

  @ParameterizedTest
  @ValueSource(strings = {"'code':'forbidden'", "'code':'tool_not_found'"})
  void refusalsByARuleAreJudged(String code) {
    assertEquals(
        result(Verdict.NOW_ALLOWED, "a"),
        judge("{'name':'a','allow':['call']}", REFUSED + "," + code + ",'rule':'x'" + BY_KEY));
  }

  @Test
  void promptsAndResourcesAreJudgedByTheirUse() {
    String rules = "{'name':'g','allow':['get']},{'name':'r','allow':['read']}";

    assertEquals(
        result(Verdict.SAME, "g"), judge(rules, CALL.replace("'tool'", "'prompt'") + BY_KEY));
    assertEquals(
        result(Verdict.SAME, "r"),
        judge(
            rules, CALL.replace("'tool'", "'resource'").replace("'push'", "'file:///x'") + BY_KEY));
  }

  @Test
  void callerIsThatOfTheRecord() {
    assertEquals(
        result(Verdict.SAME, "r"),
        judge("{'name':'r','allow':['call'],'who':{'keys':['edge']}}", CALL + BY_KEY));
    assertEquals(
        result(Verdict.SAME, "r"),
        judge("{'name':'r','allow':['call'],'who':{'scopes':['call']}}", CALL + BY_KEY));
    assertEquals(
        result(Verdict.SAME, "r"),
        judge(
            "{'name':'r','allow':['call'],'who':{'issuers':['corp'],'clients':['app'],"
                + "'roles':['analyst'],'scopes':['mcp:call'],'principals':['corp|alice']}}",
            CALL + BY_TOKEN));
    assertEquals(
        result(Verdict.SAME, "r"),
        judge(
            "{'name':'r','allow':['call'],'who':{'anonymous':true}}",
            CALL + ",'principal':'anonymous','address':'127.0.0.1'"));
    assertEquals(
        result(Verdict.NOW_REFUSED, "n"),
        judge("{'name':'n','allow':['call'],'needs':['git:write']}", CALL + BY_TOKEN));
  }

  @Test
  void conditionsOnMissingArgumentsAreUndecided() {
    String rules =
        "{'name':'a','allow':['call']},"
            + "{'name':'d','deny':['call'],'arguments':{'/branch':{'equals':'main'}}}";

    assertEquals(result(Verdict.UNDECIDED, ""), judge(rules, CALL + BY_KEY));
    assertEquals(
        result(Verdict.NOW_REFUSED, "d"),
        judge(rules, CALL + ",'arguments':{'branch':'main'}" + BY_KEY));
    assertEquals(
        result(Verdict.SAME, "a"), judge(rules, CALL + ",'arguments':{'branch':'dev'}" + BY_KEY));
  }

  @Test
  void annotationsAreUndecidedUnlessTheRuleIsAboutOthers() {
    String allow = "{'name':'a','allow':['call']},";
    String annotations = ",'annotations':{'readOnlyHint':{'equals':true}}}";

    assertEquals(
        result(Verdict.UNDECIDED, ""),
        judge(
            allow + "{'name':'d','deny':['call']" + annotations,
            CALL + ",'arguments':{}" + BY_KEY));
    for (String others :
        List.of(
            "'deny':['call'],'who':{'roles':['other']}",
            "'deny':['read','get']",
            "'deny':['call'],'servers':['x']",
            "'deny':['call'],'tools':['log']")) {
      assertEquals(
          result(Verdict.SAME, "a"),
          judge(allow + "{'name':'o'," + others + annotations, CALL + BY_KEY),
          others);
    }
  }
}
