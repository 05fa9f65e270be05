package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.protocol.JsonSlice;

/** The client of a request: identified by the request itself, or by its session. */
sealed interface Client permits StatelessClient, LegacySession {
  Principal principal();

  /** The declared capabilities, one object. */
  JsonSlice capabilities();

  /** The lowest severity of log messages to send to the client; null for none. */
  String logLevel();

  /** Whether the client has cancelled the request or disconnected: no call may start for it. */
  boolean hasCancelled(McpRequest request);

  /** A call has started for the request. */
  void callStarted(McpRequest request, McpRequest.RunningCall runningCall);

  /** The call has ended. */
  void callEnded(McpRequest request);
}
