package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses.Assessment;
import dev.mcpbridge.bus.Addresses.Decision;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.Target;
import java.util.Optional;

/**
 * From rules to a level, and from a level to what happens. The narrower rule wins: the target's
 * own, then the server's, then the default; without any the level is 1, as in the original. A tool
 * that calls itself destructive raises a level that was set for its whole server, never one that
 * was set for itself; no annotation lowers anything.
 */
public final class RiskPolicy {
  private final RiskConfig config;

  public RiskPolicy(RiskConfig config) {
    this.config = config;
  }

  /**
   * A completion has no effect to confirm; what must not run on the host does not for it either.
   */
  public Decision decide(Assessment assessment) {
    return switch (level(assessment)) {
      case LOW -> Decision.ALLOW;
      case MEDIUM ->
          assessment.target().kind() == Target.Kind.COMPLETION ? Decision.ALLOW : Decision.CONFIRM;
      case HIGH -> Decision.ISOLATE;
    };
  }

  public RiskLevel level(Assessment assessment) {
    RiskRules rules = assessment.rules();
    Optional<RiskLevel> own = rules.narrow(assessment.target());
    if (own.isPresent()) {
      return own.get();
    }
    RiskLevel broad = rules.server() != null ? rules.server() : config.defaultLevel();
    boolean raises = rules.fromMethods() || broad != null && config.annotationsRaise();
    RiskLevel known = broad == null ? RiskLevel.LOW : broad;
    return assessment.destructive() && raises ? known.atLeast(RiskLevel.MEDIUM) : known;
  }
}
