package dev.mcpbridge.protocol;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.function.Supplier;

/** What this bridge says of itself to clients and servers. For any thread. */
public final class BridgeIdentity {
  private final String version;
  private final Supplier<String> id;
  private final JsonSlice implementation;

  /**
   * @param id the same at all nodes of this bridge, and no other bridge's; null while it is unknown
   */
  public BridgeIdentity(String version, Supplier<String> id) {
    this.version = version;
    this.id = id;
    this.implementation =
        new JsonWriter()
            .beginObject()
            .member("name", "mcp-bridge")
            .member("version", version)
            .endObject()
            .toSlice();
  }

  public String version() {
    return version;
  }

  /** The object Implementation of MCP (schema). */
  public JsonSlice implementation() {
    return implementation;
  }

  /**
   * By which other bridges know it.
   *
   * @throws BridgeException NO_QUORUM where this node does not know it yet
   */
  public String id() {
    String known = id.get();
    if (known == null) {
      throw new BridgeException(ErrorCode.NO_QUORUM, "This node has not joined the others yet");
    }
    return known;
  }
}
