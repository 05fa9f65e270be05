package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.function.Function;

/** The client of a request: identified by the request itself, or by its session. */
public interface Client {
  Principal principal();

  /** The declared capabilities, one object. */
  JsonSlice capabilities();

  /** The lowest severity of log messages to send to the client; null for none. */
  String logLevel();

  /** Whether the client has cancelled the request or disconnected: no call may start for it. */
  boolean hasCancelled(McpRequest request);

  /** Continues an earlier request of the client; null for a new one, or for one of a session. */
  String requestState(ClientMessage message);

  /** Whether the client accepts requests while a call runs; else the call is suspended. */
  boolean takesRequests();

  /** Sends a request to a client that accepts them. */
  Future<JsonSlice> sendRequest(
      McpRequest during, String method, JsonSlice params, long timeoutMillis);

  /**
   * Resolves a result that requires input of a client that does not know such results.
   *
   * @param repeat repeats the call with the input
   */
  Future<JsonSlice> settle(
      McpRequest request, Future<JsonSlice> result, Function<JsonSlice, Future<JsonSlice>> repeat);

  /** A call has started for the request. */
  void callStarted(McpRequest request, McpRequest.RunningCall runningCall);

  /** The call has ended. */
  void callEnded(McpRequest request);
}
