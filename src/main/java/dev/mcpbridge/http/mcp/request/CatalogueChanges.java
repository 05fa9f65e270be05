package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.access.AccessPolicy;
import dev.mcpbridge.access.Rights;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.McpMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Notifies listeners of changed lists of servers: because a server changed them, or because the
 * access rules did. Confined to the HTTP verticle.
 */
public final class CatalogueChanges {
  private final AccessControl access;
  private final Map<ServerId, ServerView> servers = new HashMap<>();
  private final Set<Consumer<Change>> listeners = new HashSet<>();

  /** A change of a server, which callers may or may not see. */
  public static final class Change {
    private final ServerId server;
    private final View before;
    private final View after;

    /** The notifications by the rights before and after: many sessions share them. */
    private final Map<List<Rights>, List<String>> methods = new HashMap<>();

    private Change(ServerId server, View before, View after) {
      this.server = server;
      this.before = before;
      this.after = after;
    }

    public ServerId server() {
      return server;
    }

    /** The methods of the notifications for a caller; empty if it sees no change. */
    public List<String> methods(Principal caller) {
      return methods.computeIfAbsent(
          List.of(before.policy().of(caller), after.policy().of(caller)),
          rights -> differences(before.listed(caller), after.listed(caller)));
    }
  }

  /**
   * A server under some rules.
   *
   * @param server null if it does not exist
   */
  private record View(AccessPolicy policy, ServerView server) {
    Catalogue listed(Principal caller) {
      return server == null ? Catalogue.EMPTY : AccessControl.listed(policy, caller, server);
    }
  }

  public CatalogueChanges(Bus bus, AccessControl access) {
    this.access = access;
    bus.subscribe(Addresses.SERVER_CHANGED, this::changed);
    bus.subscribe(Addresses.SERVER_REMOVED, this::removed);
    access.onReload(this::reloaded);
  }

  /** Adds a listener; the returned runnable removes it. */
  public Runnable listen(Consumer<Change> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  private void changed(ServerView view) {
    if (!view.isDiscovered()) {
      return;
    }
    ServerView before = servers.put(view.id(), view);
    if (before == null || before.catalogue() != view.catalogue()) {
      publish(new Change(view.id(), present(before), present(view)));
    }
  }

  private void removed(ServerId server) {
    ServerView before = servers.remove(server);
    if (before != null) {
      publish(new Change(server, present(before), present(null)));
    }
  }

  private View present(ServerView view) {
    return new View(access.policy(), view);
  }

  private void reloaded(AccessPolicy before, AccessPolicy after) {
    for (ServerView view : List.copyOf(servers.values())) {
      publish(new Change(view.id(), new View(before, view), new View(after, view)));
    }
  }

  private void publish(Change change) {
    List.copyOf(listeners).forEach(listener -> listener.accept(change));
  }

  private static List<String> differences(Catalogue before, Catalogue after) {
    List<String> methods = new ArrayList<>();
    if (!before.tools().equals(after.tools())) {
      methods.add(McpMethod.TOOLS_CHANGED);
    }
    if (!before.prompts().equals(after.prompts())) {
      methods.add(McpMethod.PROMPTS_CHANGED);
    }
    if (!before.resources().equals(after.resources())
        || !before.templates().equals(after.templates())) {
      methods.add(McpMethod.RESOURCES_CHANGED);
    }
    return methods;
  }
}
