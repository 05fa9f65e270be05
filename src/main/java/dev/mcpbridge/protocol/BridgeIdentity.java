package dev.mcpbridge.protocol;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.function.Supplier;

/** How this bridge identifies itself to clients and servers. Thread-safe. */
public final class BridgeIdentity {
  private final String version;
  private final Supplier<String> id;
  private final JsonSlice implementation;

  /**
   * @param id globally unique, the same on all nodes of this bridge; null while it is unknown
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

  /** The {@code Implementation} object of the MCP schema. */
  public JsonSlice implementation() {
    return implementation;
  }

  /**
   * The id under which other bridges identify this one.
   *
   * @throws BridgeException NO_QUORUM if this node has not learned the id yet
   */
  public String id() {
    String current = id.get();
    if (current == null) {
      throw new BridgeException(ErrorCode.NO_QUORUM, "This node has not joined the cluster yet");
    }
    return current;
  }
}
