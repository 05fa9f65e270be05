package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Target;
import java.util.List;

/**
 * Which results of a server may be returned again.
 *
 * @param tools the first match applies
 * @param resources of whom results of {@code resources/read} are kept, for the time that the server
 *     allows; null for no results
 * @param clearedByOthers whether any other call of a tool of the server clears the cache
 * @param maxBytes size of all kept results
 */
public record CacheConfig(
    List<ToolRule> tools, Scope resources, boolean clearedByOthers, long maxBytes) {

  /** Who may get a result that is kept. */
  public enum Scope {
    /** The caller who has got it, with the same credentials. */
    CALLER,
    /** All who may call the tool. */
    SHARED
  }

  /** How long results of the tools are kept that match the pattern. */
  public record ToolRule(Glob tool, long ttlMillis, Scope scope) {}

  /** Null if the results of the target are not kept. */
  public Scope scope(Target target) {
    return switch (target.kind()) {
      case TOOL -> rule(target) == null ? null : rule(target).scope();
      case RESOURCE -> resources;
      case PROMPT, COMPLETION -> null;
    };
  }

  /** How long a result of a tool is kept. */
  public long ttlMillis(Target tool) {
    return rule(tool).ttlMillis();
  }

  private ToolRule rule(Target target) {
    for (ToolRule rule : tools) {
      if (rule.tool().matches(target.name())) {
        return rule;
      }
    }
    return null;
  }
}
