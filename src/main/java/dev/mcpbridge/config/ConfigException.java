package dev.mcpbridge.config;

import java.util.List;
import java.util.stream.Collectors;

/** An invalid configuration, with all its problems, each once. Has no stack trace. */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<ConfigProblem> problems;

  public ConfigException(List<ConfigProblem> problems) {
    super(
        problems.stream().distinct().map(ConfigProblem::toString).collect(Collectors.joining("; ")),
        null,
        false,
        false);
    this.problems = problems.stream().distinct().toList();
  }

  public List<ConfigProblem> problems() {
    return problems;
  }
}
