package dev.mcpbridge.http.mcp;

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

/** Tells open streams which lists of which server have changed. Confined to the HTTP verticle. */
final class CatalogueChanges {
  private final Map<ServerId, Catalogue> last = new HashMap<>();
  private final Set<Listener> listeners = new HashSet<>();

  /** Hears the methods of the notifications that a change calls for. */
  @FunctionalInterface
  interface Listener {
    void changed(ServerId server, List<String> methods);
  }

  CatalogueChanges(Bus bus) {
    bus.subscribe(Addresses.SERVER_CHANGED, this::compare);
    bus.subscribe(Addresses.SERVER_FORGOTTEN, this::gone);
  }

  /** Listens until the returned runnable is run. */
  Runnable listen(Listener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  private void compare(ServerView view) {
    if (!view.isDiscovered()) {
      return;
    }
    Catalogue before = last.put(view.id(), view.catalogue());
    if (before != view.catalogue()) {
      tell(view.id(), differences(before == null ? Catalogue.EMPTY : before, view.catalogue()));
    }
  }

  private void gone(ServerId server) {
    Catalogue before = last.remove(server);
    if (before != null) {
      tell(server, differences(before, Catalogue.EMPTY));
    }
  }

  private void tell(ServerId server, List<String> methods) {
    if (!methods.isEmpty()) {
      List.copyOf(listeners).forEach(listener -> listener.changed(server, methods));
    }
  }

  private static List<String> differences(Catalogue one, Catalogue other) {
    List<String> methods = new ArrayList<>();
    if (!one.tools().equals(other.tools())) {
      methods.add(McpMethod.TOOLS_CHANGED);
    }
    if (!one.prompts().equals(other.prompts())) {
      methods.add(McpMethod.PROMPTS_CHANGED);
    }
    if (!one.resources().equals(other.resources()) || !one.templates().equals(other.templates())) {
      methods.add(McpMethod.RESOURCES_CHANGED);
    }
    return methods;
  }
}
