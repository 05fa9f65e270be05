package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;

/**
 * What a server says of itself.
 *
 * @param serverInfo as sent, null where absent
 * @param capabilities as sent
 * @param instructions null where absent
 * @param isBridge whether it is a bridge like this one
 */
public record ServerIdentity(
    JsonSlice serverInfo, JsonSlice capabilities, String instructions, boolean isBridge) {

  public boolean declares(String capability) {
    return JsonObjects.members(capabilities).containsKey(capability);
  }
}
