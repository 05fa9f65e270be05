package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.McpMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** Notifies listeners of changed lists of servers. Confined to the HTTP verticle. */
public final class CatalogueChanges {
  private final Map<ServerId, Catalogue> catalogues = new HashMap<>();
  private final Set<BiConsumer<ServerId, List<String>>> listeners = new HashSet<>();

  public CatalogueChanges(Bus bus) {
    bus.subscribe(Addresses.SERVER_CHANGED, this::compare);
    bus.subscribe(Addresses.SERVER_REMOVED, this::forgotten);
  }

  /**
   * Adds a listener; the returned runnable removes it.
   *
   * @param listener receives the methods of the notifications to send for a change
   */
  public Runnable listen(BiConsumer<ServerId, List<String>> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  private void compare(ServerView view) {
    if (!view.isDiscovered()) {
      return;
    }
    Catalogue before = catalogues.put(view.id(), view.catalogue());
    if (before != view.catalogue()) {
      publish(view.id(), differences(before == null ? Catalogue.EMPTY : before, view.catalogue()));
    }
  }

  private void forgotten(ServerId server) {
    Catalogue before = catalogues.remove(server);
    if (before != null) {
      publish(server, differences(before, Catalogue.EMPTY));
    }
  }

  private void publish(ServerId server, List<String> methods) {
    if (!methods.isEmpty()) {
      List.copyOf(listeners).forEach(listener -> listener.accept(server, methods));
    }
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
