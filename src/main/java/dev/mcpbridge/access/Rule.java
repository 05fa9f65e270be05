package dev.mcpbridge.access;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * One rule of the configuration. Immutable.
 *
 * @param arguments conditions on the arguments of tools and prompts
 */
public record Rule(String name, Effect effect, Who who, Items items, List<Condition> arguments) {

  boolean isAllowing() {
    return effect.isAllowing();
  }

  /** Whether it allows or denies an action. */
  boolean isAbout(Action action) {
    return effect.isAbout(action);
  }

  boolean isUnconditional() {
    return arguments.isEmpty();
  }

  /** The scopes that the caller lacks. */
  Set<String> missingScopes(Principal caller) {
    if (effect.needs().isEmpty()) {
      return Set.of();
    }
    Set<String> missing = new HashSet<>(effect.needs());
    missing.removeAll(caller.scopeNames());
    return missing;
  }

  /** Whether it may be about some entry of a kind; only tools and prompts have arguments. */
  boolean isAbout(Item.Kind kind) {
    boolean hasArguments = kind == Item.Kind.TOOL || kind == Item.Kind.PROMPT;
    return items.contain(kind) && (hasArguments || isUnconditional());
  }

  /** Whether it may be about some entry of a kind at a server. */
  boolean isAbout(ServerId server, Item.Kind kind) {
    return items.contain(server) && isAbout(kind);
  }

  /** Whether it shows or allows something, or denies everything, that one can do with a kind. */
  boolean concerns(Item.Kind kind) {
    return isAllowing()
        ? effect.onlyShows() || kind.uses().stream().anyMatch(this::isAbout)
        : kind.uses().stream().allMatch(this::isAbout);
  }

  /** Null if it is about the entry, else what does not fit, as a clause. */
  String mismatch(Item item) {
    if (!isAbout(item.kind())) {
      return "it is about entries of another kind";
    }
    return items.mismatch(item, isAllowing());
  }

  /** Null if the conditions on arguments hold, else the first that does not, as a clause. */
  String mismatch(Function<JsonPointer, JsonNode> values) {
    return Condition.mismatch(arguments, values, isAllowing());
  }

  /** Whether some entry can have what the rule names and does. */
  public boolean hasEffect() {
    return isAbout(Action.LIST)
        || Stream.of(Item.Kind.values())
            .anyMatch(kind -> isAbout(kind) && kind.uses().stream().anyMatch(this::isAbout));
  }

  /** Whether whatever this rule could allow is denied by another one with the same selection. */
  public boolean isShadowedBy(Rule denying) {
    return isAllowing()
        && !denying.isAllowing()
        && (denying.who.equals(Who.EVERYBODY) || denying.who.equals(who))
        && denying.items.includes(items)
        && arguments.containsAll(denying.arguments)
        && effect.actions().stream().allMatch(denying::isAbout);
  }
}
