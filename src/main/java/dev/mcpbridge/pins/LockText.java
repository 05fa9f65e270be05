package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonEscapes;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
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
    return JsonEscapes.escaped(json.toPrettyString(), JsonEscapes::isLoneSurrogate) + "\n";
  }

  /**
   * @throws IOException with what is wrong and where
   */
  static Map<ServerId, ServerPins> read(String text) throws IOException {
    Map<String, JsonSlice> members = members(JsonSlice.of(text));
    String version = members.getOrDefault("version", JsonSlice.NULL).text();
    if (!version.equals(Integer.toString(VERSION)) || !members.containsKey("servers")) {
      throw new IOException("expected version " + VERSION + " and servers");
    }
    Map<ServerId, ServerPins> pins = sorted();
    for (Map.Entry<String, JsonSlice> server : members(members.get("servers")).entrySet()) {
      if (!ServerId.isValid(server.getKey())) {
        throw new IOException("servers." + server.getKey() + ": not a server id");
      }
      try {
        pins.put(new ServerId(server.getKey()), ServerPins.of(Json.exactTree(server.getValue())));
      } catch (IOException e) {
        throw new IOException("servers." + server.getKey() + ": " + e.getMessage(), e);
      }
    }
    return pins;
  }

  /** Server by server, since the whole may have more tokens than one text may have. */
  private static Map<String, JsonSlice> members(JsonSlice json) throws IOException {
    Map<String, JsonSlice> members = JsonObjects.distinctMembers(json);
    if (members == null) {
      Json.exactTree(json); // which says what is wrong, and where
      throw new IOException("expected version " + VERSION + " and servers");
    }
    return members;
  }

  static Map<ServerId, ServerPins> sorted() {
    return new TreeMap<>((one, other) -> one.name().compareTo(other.name()));
  }
}
