package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.http.mcp.request.Client;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Future;
import java.util.Map;

/** The client of one request of 2026-07-28, described by the request's {@code _meta} alone. */
final class StatelessClient implements Client {
  private final Principal principal;
  private final JsonSlice capabilities;
  private final String logLevel;
  private McpRequest.RunningCall runningCall;
  private boolean isDisconnected;

  StatelessClient(Principal principal, Map<String, JsonSlice> meta) {
    this.principal = principal;
    this.capabilities = meta.get(MetaKeys.CAPABILITIES);
    this.logLevel = JsonObjects.string(meta.get(MetaKeys.LOG_LEVEL));
  }

  @Override
  public Principal principal() {
    return principal;
  }

  @Override
  public String logLevel() {
    return logLevel;
  }

  @Override
  public JsonSlice capabilities() {
    return capabilities;
  }

  @Override
  public boolean hasCancelled(McpRequest request) {
    return isDisconnected;
  }

  @Override
  public void callStarted(McpRequest request, McpRequest.RunningCall call) {
    runningCall = call;
  }

  @Override
  public void callEnded(McpRequest request) {
    runningCall = null;
  }

  @Override
  public boolean takesRequests() {
    return false;
  }

  @Override
  public Future<JsonSlice> sendRequest(
      McpRequest during, String method, JsonSlice params, long timeoutMillis) {
    return Future.failedFuture(new UnsupportedOperationException(method));
  }

  /** Marks the client as disconnected; returns the running call, null for none. */
  McpRequest.RunningCall disconnect() {
    isDisconnected = true;
    return runningCall;
  }
}
