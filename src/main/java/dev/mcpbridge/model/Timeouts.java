package dev.mcpbridge.model;

import java.util.List;

/**
 * Timeouts of the calls of one server, in milliseconds.
 *
 * @param tools exceptions by tool name; the first match applies
 */
public record Timeouts(long call, List<ToolTimeout> tools) {

  /** The timeout of the tools that match the pattern. */
  public record ToolTimeout(Glob name, long millis) {}

  public long of(Target target) {
    if (target.kind() == Target.Kind.TOOL) {
      for (ToolTimeout rule : tools) {
        if (rule.name().matches(target.name())) {
          return rule.millis();
        }
      }
    }
    return call;
  }
}
