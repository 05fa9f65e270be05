package dev.mcpbridge.model;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What the operator said about the risk of one server.
 *
 * @param server the server's own level, null where none was set
 * @param tools levels by tool name, exact names and globs
 * @param resources level of reading resources, null for the server's
 * @param prompts level of getting prompts, null for the server's
 * @param fromMethods whether a tool that calls itself destructive is of level 2 at least, since its
 *     HTTP method says so
 * @param destructiveToolPolicy whether tools that call themselves destructive are raised; null
 *     where that was not said for this server
 */
public record RiskRules(
    RiskLevel server,
    List<ToolRule> tools,
    RiskLevel resources,
    RiskLevel prompts,
    boolean fromMethods,
    DestructiveToolPolicy destructiveToolPolicy) {

  public static final RiskRules NONE = new RiskRules(null, List.of(), null, null, false, null);

  /** The level of the tools whose name the pattern matches. */
  public record ToolRule(Glob name, RiskLevel level) {}

  public RiskRules {
    tools =
        tools.stream()
            .sorted(Comparator.comparingInt((ToolRule rule) -> -specificity(rule.name())))
            .toList();
  }

  /** The rule made for this very target: the exact name before the longest glob. */
  public Optional<RiskLevel> narrow(Target target) {
    return switch (target.kind()) {
      case RESOURCE -> Optional.ofNullable(resources);
      case PROMPT -> Optional.ofNullable(prompts);
      case COMPLETION -> Optional.empty();
      case TOOL ->
          tools.stream()
              .filter(rule -> rule.name().matches(target.name()))
              .map(ToolRule::level)
              .findFirst();
    };
  }

  /** Whether the operator said anything about how risky the server is. */
  public boolean isSaid() {
    return server != null
        || !tools.isEmpty()
        || resources != null
        || prompts != null
        || fromMethods;
  }

  /** Whether anything here says so high a level. */
  public boolean mention(RiskLevel level) {
    return level == server
        || level == resources
        || level == prompts
        || tools.stream().anyMatch(rule -> rule.level() == level);
  }

  private static int specificity(Glob glob) {
    return glob.isExact() ? Integer.MAX_VALUE : glob.pattern().length();
  }
}
