package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;

/**
 * What a server says of itself; shown, never acted upon.
 *
 * @param serverInfo as sent, null where absent
 * @param capabilities as sent
 * @param instructions null where absent
 */
public record ServerIdentity(JsonSlice serverInfo, JsonSlice capabilities, String instructions) {

  public boolean declares(String capability) {
    return JsonObjects.members(capabilities).containsKey(capability);
  }
}
