package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;

/** The client of a request: identified by the request itself, or by its session. */
public interface Client {
  /** The declared capabilities, one object. */
  JsonSlice capabilities();

  /** The lowest severity of log messages to send to the client; null for none. */
  String logLevel();

  /** Whether its session has ended: no call may start for it. */
  boolean hasEnded();

  /**
   * Whether the client accepts requests while a call runs. Otherwise a result requests its input,
   * and the client repeats its own request with it.
   */
  boolean takesRequests();

  /** Sends a notification that belongs to no request; a client without a session gets none. */
  default void tell(JsonSlice notification) {}

  /** Sends a request to a client that accepts them. */
  Future<JsonSlice> sendRequest(
      McpRequest during, String method, JsonSlice params, long timeoutMillis);
}
