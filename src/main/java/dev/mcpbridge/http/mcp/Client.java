package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.protocol.JsonSlice;

/** Who asks, as its era lets it be known: by each request, or by the session it opened. */
sealed interface Client permits StatelessClient, LegacySession {
  Principal principal();

  /** What it declares, as one object. */
  JsonSlice capabilities();

  /** The lowest severity of log messages it wants to hear; null for none. */
  String logLevel();

  /** Whether it wants no answer to this request any more: no call for it may begin. */
  boolean hasGivenUp(McpRequest request);

  /** A call runs for this request from now on. */
  void began(McpRequest request, McpRequest.RunningCall runningCall);

  /** The call is over. */
  void ended(McpRequest request);
}
