package dev.mcpbridge.config;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * An invalid configuration, with its problems, each once: the first {@value #MAX_PROBLEMS}, and the
 * number of all others. Has no stack trace.
 */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  static final int MAX_PROBLEMS = 100;

  private final transient List<ConfigProblem> problems;

  public ConfigException(List<ConfigProblem> problems) {
    this(first(problems), null);
  }

  private ConfigException(List<ConfigProblem> problems, Throwable cause) {
    super(
        problems.stream().map(ConfigProblem::toString).collect(Collectors.joining("; ")),
        cause,
        false,
        false);
    this.problems = List.copyOf(problems);
  }

  private static List<ConfigProblem> first(List<ConfigProblem> problems) {
    List<ConfigProblem> distinct = problems.stream().distinct().toList();
    if (distinct.size() <= MAX_PROBLEMS) {
      return distinct;
    }
    List<ConfigProblem> first = new ArrayList<>(distinct.subList(0, MAX_PROBLEMS));
    first.add(new ConfigProblem("", (distinct.size() - MAX_PROBLEMS) + " more problems"));
    return first;
  }

  public List<ConfigProblem> problems() {
    return problems;
  }
}
