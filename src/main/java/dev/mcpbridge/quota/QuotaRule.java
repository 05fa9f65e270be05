package dev.mcpbridge.quota;

import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.Items;
import dev.mcpbridge.access.Who;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Sha256;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One quota of the configuration. Immutable.
 *
 * @param per what the calls of one count have in common; one count for all if empty. Calls that
 *     lack it, as those of callers without a role or client, are not counted
 */
public record QuotaRule(
    String name, Who who, Items items, Set<Dimension> per, Allowance allowance) {

  /** Whether the owner of a server counts, and not the node that receives the request. */
  boolean isCountedByOwner() {
    return !per.isEmpty() && per.stream().allMatch(Dimension::isOfServer);
  }

  /** The names of the counts that a call belongs to; several for a caller with several roles. */
  List<String> counts(Call call) {
    boolean isCounted =
        call.target().kind() != Target.Kind.COMPLETION
            && who.fits(call.caller().principal())
            && (!per.contains(Dimension.CLIENT) || client(call.caller().principal()) != null)
            && items.select(call.server(), kind(call), call.target().name());
    if (!isCounted) {
      return List.of();
    }
    StringBuilder count = new StringBuilder();
    for (Dimension dimension : Dimension.values()) {
      if (per.contains(dimension) && dimension != Dimension.ROLE) {
        count.append(value(dimension, call)).append('\n');
      }
    }
    if (allowance instanceof Allowance.Repeats) {
      count.append(digest(call));
    }
    return per.contains(Dimension.ROLE)
        ? roles(call.caller().principal()).stream().map(role -> count + role).toList()
        : List.of(count.toString());
  }

  private List<String> roles(Principal caller) {
    List<String> roles = new ArrayList<>(caller.roles());
    if (!who.roles().isEmpty()) {
      roles.retainAll(who.roles());
    }
    return roles;
  }

  private static String value(Dimension dimension, Call call) {
    Caller caller = call.caller();
    return switch (dimension) {
      case CALLER, ROLE -> caller.share();
      case CLIENT -> client(caller.principal());
      case SERVER -> call.server().name();
      case TOOL -> call.server().name() + " " + call.target().kind() + " " + tool(call.target());
    };
  }

  /** Null for callers without a token, or with one that names no client. */
  private static String client(Principal caller) {
    return caller.token() == null ? null : caller.token().client();
  }

  /** All resources of a server are counted together: there may be any number of them. */
  private static String tool(Target target) {
    return target.kind() == Target.Kind.RESOURCE ? "" : target.name();
  }

  private static String digest(Call call) {
    return new Sha256()
        .add(call.caller().share())
        .end()
        .add(call.server().name())
        .end()
        .add(call.target().name())
        .end()
        .add(call.arguments())
        .hex();
  }

  private static Item.Kind kind(Call call) {
    return switch (call.target().kind()) {
      case TOOL -> Item.Kind.TOOL;
      case PROMPT -> Item.Kind.PROMPT;
      case RESOURCE, COMPLETION -> Item.Kind.RESOURCE;
    };
  }
}
