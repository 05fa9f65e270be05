package dev.mcpbridge.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/**
 * The {@code error} member of a response.
 *
 * @param code as the peer sent it; {@link #INTERNAL} if it sent none
 * @param raw the whole member, unchanged
 */
public record RpcError(int code, String message, JsonSlice raw) {
  public static final int METHOD_NOT_FOUND = -32601;
  public static final int INVALID_PARAMS = -32602;
  public static final int INTERNAL = -32603;

  /** Unsupported protocol version, in the stateless era. */
  public static final int UNSUPPORTED_VERSION = -32022;

  /** "Resource not found" of the revisions before 2026-07-28. */
  public static final int RESOURCE_NOT_FOUND = -32002;

  public static RpcError read(JsonSlice raw) {
    try {
      JsonNode node = Json.tree(raw);
      return new RpcError(
          node.path("code").asInt(INTERNAL), node.path("message").asText("no message"), raw);
    } catch (IOException e) {
      return new RpcError(INTERNAL, "unreadable error", raw);
    }
  }
}
