package dev.mcpbridge.model;

import java.util.List;

/**
 * How long calls of one server may take, in milliseconds.
 *
 * @param tools exceptions by tool name; the first match counts
 */
public record Timeouts(long call, List<ToolTimeout> tools) {

  /** The time limit of the tools whose name the pattern matches. */
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
