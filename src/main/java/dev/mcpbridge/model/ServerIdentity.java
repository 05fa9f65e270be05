package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;

/**
 * What a server declares about itself.
 *
 * @param serverInfo as sent; null if absent
 * @param capabilities as sent
 * @param instructions null if absent
 * @param isBridge whether it is an MCP Bridge
 */
public record ServerIdentity(
    JsonSlice serverInfo, JsonSlice capabilities, String instructions, boolean isBridge) {

  public boolean declares(String capability) {
    return JsonObjects.members(capabilities).containsKey(capability);
  }

  public ServerIdentity withoutInstructions() {
    return new ServerIdentity(serverInfo, capabilities, null, isBridge);
  }
}
