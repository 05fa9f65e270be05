package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** The text of the lock file: sorted and indented, for version control. Stateless. */
final class LockText {
  private static final int VERSION = 1;

  private LockText() {}

  static String write(Map<ServerId, ServerPins> pins) {
    ObjectNode json = Json.object().put("version", VERSION);
    ObjectNode servers = json.putObject("servers");
    pins.forEach((server, ofServer) -> servers.set(server.name(), ofServer.toJson()));
    return json.toPrettyString() + "\n";
  }

  /**
   * @throws IOException with what is wrong and where
   */
  static Map<ServerId, ServerPins> read(String text) throws IOException {
    JsonNode json = Json.exactTree(text);
    if (json.path("version").asInt() != VERSION || !json.path("servers").isObject()) {
      throw new IOException("expected version " + VERSION + " and servers");
    }
    Map<ServerId, ServerPins> pins = sorted();
    for (Map.Entry<String, JsonNode> server : json.path("servers").properties()) {
      if (!ServerId.isValid(server.getKey())) {
        throw new IOException("servers." + server.getKey() + ": not a server id");
      }
      try {
        pins.put(new ServerId(server.getKey()), ServerPins.of(server.getValue()));
      } catch (IOException e) {
        throw new IOException("servers." + server.getKey() + ": " + e.getMessage(), e);
      }
    }
    return pins;
  }

  static Map<ServerId, ServerPins> sorted() {
    return new TreeMap<>((one, other) -> one.name().compareTo(other.name()));
  }
}
