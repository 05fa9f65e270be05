package dev.mcpbridge.pins;

import dev.mcpbridge.access.Item;
import dev.mcpbridge.model.Target;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** What can be pinned. */
public enum DefinitionKind {
  TOOL("tools", Item.Kind.TOOL),
  PROMPT("prompts", Item.Kind.PROMPT),
  TEMPLATE("templates", Item.Kind.TEMPLATE),
  /** The instructions of a server; their name is empty. */
  INSTRUCTIONS("instructions", null);

  private final String section;
  private final Item.Kind item;

  DefinitionKind(String section, Item.Kind item) {
    this.section = section;
    this.item = item;
  }

  /** The value in the API. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The member of a server in the lock file. */
  String section() {
    return section;
  }

  /**
   * What the access rules decide about; null for instructions, which all see who see the server.
   */
  public Item.Kind item() {
    return item;
  }

  /** What a target of this kind is defined by; null for those that no definition names. */
  public static DefinitionKind of(Target.Kind target) {
    return switch (target) {
      case TOOL -> TOOL;
      case PROMPT -> PROMPT;
      case RESOURCE, COMPLETION -> null;
    };
  }

  /** The kind with this value in the API. */
  public static Optional<DefinitionKind> of(String word) {
    return Stream.of(values()).filter(kind -> kind.word().equals(word)).findFirst();
  }
}
