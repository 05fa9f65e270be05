package dev.mcpbridge.model;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The risk configuration of one server.
 *
 * @param server level of the server; null if it is not set
 * @param tools levels by tool name, exact or with globs; some tools may be blocked
 * @param resources level of reading resources; null for that of the server
 * @param prompts level of getting prompts; null for that of the server
 * @param fromMethods whether a destructive tool has at least level 2 because of its HTTP method
 * @param destructiveToolPolicy whether destructive tools are raised; null if it is not set for this
 *     server
 */
public record RiskRules(
    RiskLevel server,
    List<ToolRule> tools,
    RiskLevel resources,
    RiskLevel prompts,
    boolean fromMethods,
    DestructiveToolPolicy destructiveToolPolicy) {

  public static final RiskRules NONE = new RiskRules(null, List.of(), null, null, false, null);

  /**
   * The level of the tools that match the pattern.
   *
   * @param level null if they are blocked: not offered, and never run
   */
  public record ToolRule(Glob name, RiskLevel level) {}

  public RiskRules {
    tools =
        tools.stream()
            .sorted(Comparator.comparingInt((ToolRule rule) -> -specificity(rule.name())))
            .toList();
  }

  /** The rule for the target: an exact name takes precedence over the longest glob. */
  public Optional<RiskLevel> specificLevel(Target target) {
    return switch (target.kind()) {
      case RESOURCE -> Optional.ofNullable(resources);
      case PROMPT -> Optional.ofNullable(prompts);
      case COMPLETION -> Optional.empty();
      case TOOL -> rule(target.name()).map(ToolRule::level);
    };
  }

  private Optional<ToolRule> rule(String tool) {
    return tools.stream().filter(rule -> rule.name().matches(tool)).findFirst();
  }

  /** Whether the operator has blocked a tool. */
  public boolean block(String tool) {
    return rule(tool).filter(rule -> rule.level() == null).isPresent();
  }

  /** What may be offered of a catalogue: all but the blocked tools. */
  public Catalogue offered(Catalogue catalogue) {
    boolean isWhole = catalogue.tools().keySet().stream().noneMatch(this::block);
    return isWhole ? catalogue : catalogue.withTools(tool -> !block(tool));
  }

  /** Whether the operator configured a level for anything of the server. */
  public boolean isConfigured() {
    return server != null
        || !tools.isEmpty()
        || resources != null
        || prompts != null
        || fromMethods;
  }

  /** Whether any rule assigns the level. */
  public boolean contains(RiskLevel level) {
    return level == server
        || level == resources
        || level == prompts
        || tools.stream().anyMatch(rule -> rule.level() == level);
  }

  private static int specificity(Glob glob) {
    return glob.isExact() ? Integer.MAX_VALUE : glob.pattern().length();
  }
}
