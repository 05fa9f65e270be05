package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.protocol.BridgeIdentity;
import java.util.Locale;

/**
 * The {@code requestState} values that this bridge gives to clients (2026-07-28
 * basic/patterns/mrtr). Every node of the bridge recognizes them; those of servers, and of other
 * bridges, are passed on. Thread-safe.
 */
public final class RequestStates {
  private final BridgeIdentity identity;

  /** What the repeated request is an answer to. */
  enum Kind {
    CONFIRMATION,
    CONSENT,
    CALL
  }

  public RequestStates(BridgeIdentity identity) {
    this.identity = identity;
  }

  String of(Kind kind, String content) {
    return prefix(kind) + content;
  }

  /** The content of the state in a request; null if it has none of this kind. */
  String content(Kind kind, McpRequest request) {
    String state = request.requestState();
    String prefix = state == null ? null : prefix(kind);
    return prefix != null && state.startsWith(prefix) ? state.substring(prefix.length()) : null;
  }

  private String prefix(Kind kind) {
    return "mcp-bridge/" + identity.id() + "/" + kind.name().toLowerCase(Locale.ROOT) + "/";
  }
}
