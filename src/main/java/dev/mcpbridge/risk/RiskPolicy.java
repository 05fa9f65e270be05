package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Gate.Assessment;
import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.Target;

/**
 * Determines the level of a call from the rules, and the decision from the level. The most specific
 * rule applies: that of the target, then that of the server, then the default. Without any the
 * level is 1, as in the original paper.
 *
 * <p>A tool that declares itself destructive is raised to level 2 if any level is configured for
 * its server, by its entry or by the default. {@code risk.annotations} overrides this for all
 * servers, and the entry of a server for that server. An annotation never changes a level that is
 * set for the tool itself, and never lowers a level.
 */
public final class RiskPolicy implements RiskGrading {
  private final RiskConfig config;

  public RiskPolicy(RiskConfig config) {
    this.config = config;
  }

  /**
   * A completion at level 2 is allowed because it has no effect to confirm. At level 3 it is
   * isolated like any call.
   */
  public Decision decide(Assessment assessment) {
    Target target = assessment.target();
    RiskLevel graded = grade(target, assessment.rules(), assessment.destructive()).level();
    RiskLevel level = graded.compareTo(assessment.atLeast()) < 0 ? assessment.atLeast() : graded;
    return switch (level) {
      case LOW -> Decision.ALLOW;
      case MEDIUM -> target.kind() == Target.Kind.COMPLETION ? Decision.ALLOW : Decision.CONFIRM;
      case HIGH -> Decision.ISOLATE;
    };
  }

  @Override
  public Risk grade(Target target, RiskRules rules, boolean destructive) {
    return rules
        .specificLevel(target)
        .map(level -> new Risk(level, Risk.Reason.TOOL))
        .orElseGet(() -> serverRisk(rules, destructive));
  }

  private Risk serverRisk(RiskRules rules, boolean destructive) {
    Risk risk = ofServer(rules);
    if (!destructive || risk.level() != RiskLevel.LOW) {
      return risk;
    }
    if (rules.fromMethods()) {
      return new Risk(RiskLevel.MEDIUM, Risk.Reason.METHOD);
    }
    return raises(rules) ? new Risk(RiskLevel.MEDIUM, Risk.Reason.ANNOTATION) : risk;
  }

  private Risk ofServer(RiskRules rules) {
    if (rules.server() != null) {
      return new Risk(rules.server(), Risk.Reason.SERVER);
    }
    return config.defaultLevel() == null
        ? new Risk(RiskLevel.LOW, Risk.Reason.NONE)
        : new Risk(config.defaultLevel(), Risk.Reason.DEFAULT);
  }

  private boolean raises(RiskRules rules) {
    DestructiveToolPolicy policy =
        rules.destructiveToolPolicy() == null
            ? config.destructiveToolPolicy()
            : rules.destructiveToolPolicy();
    return policy == null
        ? rules.isConfigured() || config.defaultLevel() != null
        : policy == DestructiveToolPolicy.RAISE;
  }
}
