package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.Gate.Assessment;
import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.Target;
import java.util.List;
import org.junit.jupiter.api.Test;

class RiskPolicyTest {
  private static final Target REMOVE = Target.tool("remove_file");

  @Test
  void callIsAllowedWithoutAnyLevel() {
    assertEquals(Decision.ALLOW, decide(null, RiskRules.NONE, REMOVE, true));
  }

  @Test
  void defaultAppliesToServersWithoutLevel() {
    assertEquals(Decision.CONFIRM, decide(RiskLevel.MEDIUM, RiskRules.NONE, REMOVE, false));
  }

  @Test
  void completionIsNeverConfirmedButIsolated() {
    Target completion = new Target(Target.Kind.COMPLETION, "prompt");

    assertEquals(Decision.ALLOW, decide(null, rules(RiskLevel.MEDIUM), completion, false));
    assertEquals(Decision.ISOLATE, decide(null, rules(RiskLevel.HIGH), completion, false));
  }

  @Test
  void mostSpecificRuleApplies() {
    RiskRules rules =
        rules(RiskLevel.HIGH, rule("*", RiskLevel.MEDIUM), rule("remove_file", RiskLevel.LOW));

    assertEquals(Decision.ALLOW, decide(null, rules, REMOVE, false));
    assertEquals(Decision.CONFIRM, decide(null, rules, Target.tool("other"), false));
  }

  @Test
  void annotationRaisesServerLevelAndNeverLowers() {
    assertEquals(Decision.CONFIRM, decide(null, rules(RiskLevel.LOW), REMOVE, true));
    assertEquals(Decision.ISOLATE, decide(null, rules(RiskLevel.HIGH), REMOVE, true));
    assertEquals(
        Decision.ALLOW,
        decide(null, rules(RiskLevel.MEDIUM, rule("remove_file", RiskLevel.LOW)), REMOVE, true));
  }

  @Test
  void destructiveToolIsRaisedIfAnyLevelIsConfigured() {
    RiskRules ofAnother = rules(null, rule("other", RiskLevel.LOW));
    RiskRules ofPrompts = new RiskRules(null, List.of(), null, RiskLevel.LOW, false, null);

    assertEquals(raised(), grade(null, null, ofAnother, true));
    assertEquals(raised(), grade(null, null, ofPrompts, true));
    assertEquals(raised(), grade(RiskLevel.LOW, null, RiskRules.NONE, true));
    assertEquals(low(Risk.Reason.NONE), grade(null, null, ofAnother, false));
    assertEquals(low(Risk.Reason.NONE), grade(null, null, RiskRules.NONE, true));
  }

  @Test
  void annotationPolicyAppliesGloballyAndByServer() {
    RiskRules raise =
        new RiskRules(null, List.of(), null, null, false, DestructiveToolPolicy.RAISE);
    RiskRules ignore =
        new RiskRules(RiskLevel.LOW, List.of(), null, null, false, DestructiveToolPolicy.IGNORE);

    assertEquals(raised(), grade(null, DestructiveToolPolicy.RAISE, RiskRules.NONE, true));
    assertEquals(
        low(Risk.Reason.SERVER),
        grade(null, DestructiveToolPolicy.IGNORE, rules(RiskLevel.LOW), true));
    assertEquals(raised(), grade(null, DestructiveToolPolicy.IGNORE, raise, true));
    assertEquals(low(Risk.Reason.SERVER), grade(null, DestructiveToolPolicy.RAISE, ignore, true));
  }

  @Test
  void reasonNamesTheDecidingRule() {
    RiskRules methods =
        new RiskRules(null, List.of(), null, null, true, DestructiveToolPolicy.IGNORE);

    assertEquals(
        new Risk(RiskLevel.HIGH, Risk.Reason.TOOL),
        grade(null, null, rules(RiskLevel.LOW, rule("remove*", RiskLevel.HIGH)), true));
    assertEquals(
        new Risk(RiskLevel.MEDIUM, Risk.Reason.SERVER),
        grade(RiskLevel.HIGH, null, rules(RiskLevel.MEDIUM), true));
    assertEquals(
        new Risk(RiskLevel.HIGH, Risk.Reason.DEFAULT),
        grade(RiskLevel.HIGH, null, RiskRules.NONE, true));
    assertEquals(new Risk(RiskLevel.MEDIUM, Risk.Reason.METHOD), grade(null, null, methods, true));
  }

  private static Risk raised() {
    return new Risk(RiskLevel.MEDIUM, Risk.Reason.ANNOTATION);
  }

  private static Risk low(Risk.Reason reason) {
    return new Risk(RiskLevel.LOW, reason);
  }

  @Test
  void methodRaisesLevelWithoutConfiguration() {
    RiskRules rules = new RiskRules(null, List.of(), null, null, true, null);

    assertEquals(Decision.CONFIRM, decide(null, rules, REMOVE, true));
    assertEquals(Decision.ALLOW, decide(null, rules, REMOVE, false));
  }

  @Test
  void resourcesAndPromptsAreGraded() {
    Target resource = new Target(Target.Kind.RESOURCE, "file:///x");

    assertEquals(Decision.CONFIRM, decide(null, rules(RiskLevel.MEDIUM), resource, false));
    RiskRules lowered =
        new RiskRules(RiskLevel.MEDIUM, List.of(), RiskLevel.LOW, null, false, null);
    assertEquals(Decision.ALLOW, decide(null, lowered, resource, false));
  }

  private static Decision decide(
      RiskLevel byDefault, RiskRules rules, Target target, boolean destructive) {
    return policy(byDefault, null)
        .decide(new Assessment(target, rules, destructive, RiskLevel.LOW));
  }

  private static Risk grade(
      RiskLevel byDefault,
      DestructiveToolPolicy destructiveToolPolicy,
      RiskRules rules,
      boolean destructive) {
    return policy(byDefault, destructiveToolPolicy).grade(REMOVE, rules, destructive);
  }

  private static RiskPolicy policy(
      RiskLevel byDefault, DestructiveToolPolicy destructiveToolPolicy) {
    return new RiskPolicy(new RiskConfig(byDefault, destructiveToolPolicy, false, true, 1000, 200));
  }

  private static RiskRules rules(RiskLevel server, RiskRules.ToolRule... tools) {
    return new RiskRules(server, List.of(tools), null, null, false, null);
  }

  private static RiskRules.ToolRule rule(String glob, RiskLevel level) {
    return new RiskRules.ToolRule(new Glob(glob), level);
  }
}
