package dev.mcpbridge.risk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.bus.Addresses.Assessment;
import dev.mcpbridge.bus.Addresses.Decision;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.Target;
import java.util.List;
import org.junit.jupiter.api.Test;

class RiskPolicyTest {
  private static final Target REMOVE = Target.tool("remove_file");

  @Test
  void withoutAnyLevelACallRunsAsInTheOriginal() {
    assertEquals(Decision.ALLOW, decide(null, RiskRules.NONE, REMOVE, true));
  }

  @Test
  void theDefaultHoldsWhereTheServerSaysNothing() {
    assertEquals(Decision.CONFIRM, decide(RiskLevel.MEDIUM, RiskRules.NONE, REMOVE, false));
  }

  @Test
  void theNarrowerRuleWins() {
    RiskRules rules =
        rules(RiskLevel.HIGH, rule("*", RiskLevel.MEDIUM), rule("remove_file", RiskLevel.LOW));

    assertEquals(Decision.ALLOW, decide(null, rules, REMOVE, false));
    assertEquals(Decision.CONFIRM, decide(null, rules, Target.tool("other"), false));
  }

  @Test
  void anAnnotationRaisesTheServersLevelAndNeverLowersOne() {
    assertEquals(Decision.CONFIRM, decide(null, rules(RiskLevel.LOW), REMOVE, true));
    assertEquals(Decision.ISOLATE, decide(null, rules(RiskLevel.HIGH), REMOVE, true));
    assertEquals(
        Decision.ALLOW,
        decide(null, rules(RiskLevel.MEDIUM, rule("remove_file", RiskLevel.LOW)), REMOVE, true));
  }

  @Test
  void whereMethodsSayTheRiskNoLevelIsNeeded() {
    RiskRules rules = new RiskRules(null, List.of(), null, null, true);

    assertEquals(Decision.CONFIRM, decide(null, rules, REMOVE, true));
    assertEquals(Decision.ALLOW, decide(null, rules, REMOVE, false));
  }

  @Test
  void resourcesAndPromptsAreGatedToo() {
    Target resource = new Target(Target.Kind.RESOURCE, "file:///x");

    assertEquals(Decision.CONFIRM, decide(null, rules(RiskLevel.MEDIUM), resource, false));
    RiskRules lowered = new RiskRules(RiskLevel.MEDIUM, List.of(), RiskLevel.LOW, null, false);
    assertEquals(Decision.ALLOW, decide(null, lowered, resource, false));
  }

  private static Decision decide(
      RiskLevel byDefault, RiskRules rules, Target target, boolean destructive) {
    RiskConfig config = new RiskConfig(byDefault, true, false, true, 1000, 200);
    return new RiskPolicy(config).decide(new Assessment(target, rules, destructive));
  }

  private static RiskRules rules(RiskLevel server, RiskRules.ToolRule... tools) {
    return new RiskRules(server, List.of(tools), null, null, false);
  }

  private static RiskRules.ToolRule rule(String glob, RiskLevel level) {
    return new RiskRules.ToolRule(new Glob(glob), level);
  }
}
