package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses.Assessment;
import dev.mcpbridge.bus.Addresses.Decision;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.Target;

/**
 * From rules to a level, and from a level to what happens. The narrower rule wins: the target's
 * own, then the server's, then the default; without any the level is 1, as in the original.
 *
 * <p>A tool that calls itself destructive is raised to level 2 where anything was said about the
 * risk of its server, by its entry or by the default. {@code risk.annotations} says otherwise for
 * all servers, and an entry's own for that one. No annotation changes a level that was set for the
 * tool itself, and none lowers anything.
 */
public final class RiskPolicy implements RiskGrading {
  private final RiskConfig config;

  public RiskPolicy(RiskConfig config) {
    this.config = config;
  }

  /**
   * A completion has no effect to confirm; what must not run on the host does not for it either.
   */
  public Decision decide(Assessment assessment) {
    Target target = assessment.target();
    return switch (grade(target, assessment.rules(), assessment.destructive()).level()) {
      case LOW -> Decision.ALLOW;
      case MEDIUM -> target.kind() == Target.Kind.COMPLETION ? Decision.ALLOW : Decision.CONFIRM;
      case HIGH -> Decision.ISOLATE;
    };
  }

  @Override
  public Risk grade(Target target, RiskRules rules, boolean destructive) {
    return rules
        .narrow(target)
        .map(level -> new Risk(level, Risk.Reason.TOOL))
        .orElseGet(() -> broad(rules, destructive));
  }

  private Risk broad(RiskRules rules, boolean destructive) {
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
    DestructiveToolPolicy said =
        rules.destructiveToolPolicy() == null
            ? config.destructiveToolPolicy()
            : rules.destructiveToolPolicy();
    return said == null
        ? rules.isSaid() || config.defaultLevel() != null
        : said == DestructiveToolPolicy.RAISE;
  }
}
