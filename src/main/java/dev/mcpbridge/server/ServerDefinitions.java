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
 * The definitions of the servers to run: those of the configuration of this node, and those of the
 * API, which all nodes share. A server of the configuration that was stopped through the API stays
 * stopped until the configuration is reloaded.
 */
final class ServerDefinitions {
  private static final Logger LOG = System.getLogger(ServerDefinitions.class.getName());

  /** Stored instead of a definition for a server that was stopped. */
  static final byte[] STOPPED = {};

  private final Map<String, ParsedDefinition> parsed = new HashMap<>();
  private Map<ServerId, ServerConfig> fromFile = Map.of();
  private BridgeConfig operator;

  private record ParsedDefinition(long version, ServerConfig server) {}

  /**
   * @param operator decides which definitions are accepted from the API
   */
  void read(Map<ServerId, ServerConfig> servers, BridgeConfig operator) {
    fromFile = servers;
    this.operator = operator;
    parsed.clear();
  }

  boolean isFromFile(ServerId id) {
    return fromFile.containsKey(id);
  }

  /**
   * @param shared the definitions of the API by server id
   */
  Map<ServerId, ServerConfig> wanted(Map<String, Item> shared) {
    Map<ServerId, ServerConfig> servers = new LinkedHashMap<>(fromFile);
    parsed.keySet().retainAll(shared.keySet());
    shared.forEach(
        (name, item) -> {
          ServerId id = new ServerId(name);
          servers.remove(id);
          ServerConfig server = item.value().length == 0 ? null : definition(name, item);
          if (server != null) {
            servers.put(id, server);
          }
        });
    return servers;
  }

  private ServerConfig definition(String name, Item item) {
    ParsedDefinition cached = parsed.get(name);
    if (cached == null || cached.version() != item.version()) {
      cached = new ParsedDefinition(item.version(), parse(name, item.value()));
      parsed.put(name, cached);
    }
    return cached.server();
  }

  /**
   * Null if this node does not accept the definition; another node may, or an earlier configuration
   * did.
   */
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
