package dev.mcpbridge.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The servers that are wanted: those of this node's configuration, and those that came over the
 * API, which all nodes share. A server of the configuration that was stopped over the API stays
 * stopped until the configuration is read again.
 */
final class ServerDefinitions {
  private static final Logger LOG = System.getLogger(ServerDefinitions.class.getName());

  /** What stands in place of a definition for a server that was stopped. */
  static final byte[] STOPPED = {};

  private final Map<String, Understood> understood = new HashMap<>();
  private Map<ServerId, ServerConfig> fromFile = Map.of();
  private BridgeConfig operator;

  private record Understood(long version, ServerConfig server) {}

  /**
   * @param operator says what may come over the API
   */
  void read(Map<ServerId, ServerConfig> servers, BridgeConfig operator) {
    fromFile = servers;
    this.operator = operator;
    understood.clear();
  }

  boolean isFromFile(ServerId id) {
    return fromFile.containsKey(id);
  }

  Map<ServerId, ServerConfig> ofFile() {
    return fromFile;
  }

  /**
   * @param shared the definitions that came over the API, by id
   */
  Map<ServerId, ServerConfig> wanted(Map<String, Item> shared) {
    Map<ServerId, ServerConfig> wanted = new LinkedHashMap<>(fromFile);
    understood.keySet().retainAll(shared.keySet());
    shared.forEach(
        (name, item) -> {
          ServerId id = new ServerId(name);
          wanted.remove(id);
          ServerConfig server = item.value().length == 0 ? null : understand(name, item);
          if (server != null) {
            wanted.put(id, server);
          }
        });
    return wanted;
  }

  private ServerConfig understand(String name, Item item) {
    Understood known = understood.get(name);
    if (known == null || known.version() != item.version()) {
      known = new Understood(item.version(), parse(name, item.value()));
      understood.put(name, known);
    }
    return known.server();
  }

  /** Null for what another node accepts, or an earlier configuration did, and this one does not. */
  private ServerConfig parse(String name, byte[] definition) {
    try {
      JsonNode body = Json.tree(definition);
      return ConfigReader.readServer(body, operator);
    } catch (IOException | ConfigException | BridgeException e) {
      LOG.log(Level.WARNING, "server={0} cannot run on this node: {1}", name, e.getMessage());
      return null;
    }
  }
}
