package dev.mcpbridge.access;

import dev.mcpbridge.model.ServerId;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The entries that a rule is about.
 *
 * @param names their names by kind; all names of all kinds if empty
 * @param annotations conditions on the annotations of tools
 */
public record Items(Names servers, Map<Item.Kind, Names> names, List<Condition> annotations) {

  /** Whether an entry of a server is selected, without regard to annotations. */
  public boolean select(ServerId server, Item.Kind kind, String name) {
    return contain(server)
        && contain(kind)
        && (names.isEmpty() || matches(Item.of(server, kind, name), false).applies(false));
  }

  /**
   * Whether an entry of a server is selected for use, without regard to annotations. A URI that
   * could mean several resources is not.
   */
  public boolean offer(ServerId server, Item.Kind kind, String name) {
    return contain(server)
        && contain(kind)
        && (names.isEmpty() || matches(Item.of(server, kind, name), true).applies(true));
  }

  /** The names of a kind that are selected one by one, without patterns. */
  public Set<String> exactNames(Item.Kind kind) {
    return names.containsKey(kind) ? names.get(kind).exact() : Set.of();
  }

  boolean contain(ServerId server) {
    return servers.contain(server.name());
  }

  boolean contain(Item.Kind kind) {
    return names.isEmpty() || names.containsKey(kind);
  }

  /** Whether every entry of its servers is selected. */
  boolean isAllOfAServer() {
    return names.isEmpty() && annotations.isEmpty();
  }

  /** Null if the entry is selected, else what does not fit, as a clause. */
  String mismatch(Item item, boolean isAllowing) {
    if (!contain(item.server())) {
      return "it is about other servers";
    }
    if (!contain(item.kind())) {
      return "it is about entries of another kind";
    }
    return mismatchInKind(item, isAllowing);
  }

  /** The same for an entry whose server and kind are selected. */
  String mismatchInKind(Item item, boolean isAllowing) {
    if (!names.isEmpty() && !matches(item, isAllowing).applies(isAllowing)) {
      return "it is about other names";
    }
    return annotations.isEmpty()
        ? null
        : Condition.mismatch(annotations, item.annotations()::at, isAllowing);
  }

  private Match matches(Item item, boolean isAllowing) {
    Names selected = names.get(item.kind());
    if (selected == Names.ALL) {
      return Match.YES;
    }
    return switch (item.kind()) {
      case TOOL, PROMPT -> Match.of(selected.contain(item.name()));
      case TEMPLATE ->
          Match.of(
              isAllowing
                  ? selected.meetTemplate(item.name())
                  : selected.coverTemplate(item.name()));
      case RESOURCE -> matchesUri(selected, item, isAllowing);
    };
  }

  /** A rule that denies has to match one form of the URI only; so has an exclusion. */
  private static Match matchesUri(Names selected, Item item, boolean isAllowing) {
    String normalized = item.normalizedUri();
    String canonical = item.canonicalUri();
    if (normalized == null || canonical == null) {
      return Match.UNDECIDED;
    }
    List<String> others = List.of(canonical, item.name(), Uris.withLowerScheme(item.name()));
    return Match.of(
        isAllowing
            ? selected.contain(normalized) && others.stream().noneMatch(selected::exclude)
            : selected.contain(normalized) || others.stream().anyMatch(selected::contain));
  }

  /** Whether this is all that another selection has, as far as their texts show. */
  boolean includes(Items other) {
    return (servers == Names.ALL || servers.equals(other.servers))
        && (names.isEmpty() || names.equals(other.names))
        && other.annotations.containsAll(annotations);
  }
}
