package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.access.AccessPolicy;
import dev.mcpbridge.access.Rights;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.profile.Profiles;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.McpMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Notifies listeners of changed lists: because a server changed them, or because the access rules
 * or the profiles did. Confined to the HTTP verticle.
 */
public final class CatalogueChanges {
  private final AccessControl access;
  private final CatalogueCache catalogues;
  private static final List<String> ALL =
      List.of(McpMethod.TOOLS_CHANGED, McpMethod.PROMPTS_CHANGED, McpMethod.RESOURCES_CHANGED);

  private final Map<ServerId, ServerView> servers = new HashMap<>();
  private final Set<Consumer<Change>> listeners = new HashSet<>();

  /** A change of a server or of profiles, which callers may or may not see. */
  public static final class Change {
    private final ServerId server;
    private final View before;
    private final View after;

    /** The notifications, which many sessions share. */
    private final Map<Audience, List<String>> methods = new HashMap<>();

    /** Those who are told the same. */
    private record Audience(Rights before, Rights after, Selection selection) {}

    private Change(ServerId server, View before, View after) {
      this.server = server;
      this.before = before;
      this.after = after;
    }

    /** Null if profiles have changed. */
    public ServerId server() {
      return server;
    }

    /** The methods of the notifications for a caller; empty if it sees no change. */
    public List<String> methods(Principal caller, Selection selection) {
      return methods.computeIfAbsent(
          new Audience(before.policy().of(caller), after.policy().of(caller), selection),
          audience ->
              before.profile(selection).equals(after.profile(selection))
                  ? differences(before.listed(caller, selection), after.listed(caller, selection))
                  : ALL);
    }
  }

  /**
   * A server under some rules and profiles.
   *
   * @param server null if it does not exist
   */
  private record View(AccessPolicy policy, Profiles profiles, ServerView server) {
    Optional<Profile> profile(Selection selection) {
      return Optional.ofNullable(selection.profile()).flatMap(profiles::find);
    }

    Catalogue listed(Principal caller, Selection selection) {
      if (server == null) {
        return Catalogue.EMPTY;
      }
      Catalogue listed = AccessControl.listed(policy, caller, server);
      return selection.profile() == null
          ? listed
          : profile(selection)
              .filter(profile -> profile.contains(server.id()))
              .map(profile -> profile.offered(server.id(), listed))
              .orElse(Catalogue.EMPTY);
    }
  }

  public CatalogueChanges(Bus bus, AccessControl access, CatalogueCache catalogues) {
    this.access = access;
    this.catalogues = catalogues;
    bus.subscribe(Addresses.SERVER_CHANGED, this::changed);
    bus.subscribe(Addresses.SERVER_REMOVED, this::removed);
    access.onReload(this::reloaded);
    catalogues.onReload(this::reloaded);
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
    return new View(access.policy(), catalogues.profiles(), view);
  }

  private void reloaded(AccessPolicy before, AccessPolicy after) {
    Profiles profiles = catalogues.profiles();
    for (ServerView view : List.copyOf(servers.values())) {
      publish(
          new Change(view.id(), new View(before, profiles, view), new View(after, profiles, view)));
    }
  }

  private void reloaded(Profiles before, Profiles after) {
    AccessPolicy policy = access.policy();
    publish(new Change(null, new View(policy, before, null), new View(policy, after, null)));
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
