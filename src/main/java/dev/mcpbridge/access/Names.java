package dev.mcpbridge.access;

import dev.mcpbridge.model.Glob;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A selection of names: patterns in which {@code *} matches any characters, and patterns with
 * {@code !} for names that are excluded. Only exclusions select all other names.
 */
public record Names(List<Glob> included, List<Glob> excluded) {
  /** All names. */
  public static final Names ALL = new Names(List.of(new Glob("*")), List.of());

  /**
   * @param patterns not empty
   */
  public static Names of(List<String> patterns) {
    List<Glob> included =
        patterns.stream().filter(each -> !each.startsWith("!")).map(Glob::new).toList();
    List<Glob> excluded =
        patterns.stream()
            .filter(each -> each.startsWith("!"))
            .map(each -> new Glob(each.substring(1)))
            .toList();
    boolean isAll = excluded.isEmpty() && included.equals(ALL.included());
    return isAll ? ALL : new Names(included.isEmpty() ? ALL.included() : included, excluded);
  }

  /** The included names that are not patterns. */
  public Set<String> exact() {
    return included.stream().filter(Glob::isExact).map(Glob::pattern).collect(Collectors.toSet());
  }

  /** Whether nothing but names is included. */
  public boolean areExact() {
    return included.stream().allMatch(Glob::isExact);
  }

  /** Whether a name is selected. */
  public boolean contain(String name) {
    return this == ALL || (matches(included, name) && !matches(excluded, name));
  }

  /** Whether a name is excluded, whatever is included. */
  boolean exclude(String name) {
    return matches(excluded, name);
  }

  /** Whether all expansions of a URI template are selected, as far as the patterns show. */
  boolean coverTemplate(String template) {
    return matches(included, template)
        && excluded.stream().noneMatch(each -> TemplatePattern.intersects(each, template));
  }

  /** Whether some expansion of a URI template is selected. */
  boolean meetTemplate(String template) {
    return included.stream().anyMatch(each -> TemplatePattern.intersects(each, template))
        && !matches(excluded, template);
  }

  private static boolean matches(List<Glob> patterns, String name) {
    for (Glob pattern : patterns) {
      if (pattern.matches(name)) {
        return true;
      }
    }
    return false;
  }
}
