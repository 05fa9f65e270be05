package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Principal;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import java.util.Map;

/** The client of one request of 2026-07-28, known by the request's {@code _meta} alone. */
final class StatelessClient implements Client {
  private final Principal principal;
  private final JsonSlice capabilities;
  private final String logLevel;
  private McpRequest.RunningCall runningCall;
  private boolean hasLeft;

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
  public boolean hasGivenUp(McpRequest request) {
    return hasLeft;
  }

  @Override
  public void began(McpRequest request, McpRequest.RunningCall call) {
    runningCall = call;
  }

  @Override
  public void ended(McpRequest request) {
    runningCall = null;
  }

  /** It has left; tells the call that runs at the moment, null for none. */
  McpRequest.RunningCall left() {
    hasLeft = true;
    return runningCall;
  }
}
