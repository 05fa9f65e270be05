package dev.mcpbridge.http.mcp.stateless;

import dev.mcpbridge.http.mcp.request.Client;
import dev.mcpbridge.http.mcp.request.McpRequest;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import io.vertx.core.Future;
import java.util.Map;

/** The client of one request of 2026-07-28, described by the request's {@code _meta} alone. */
record StatelessClient(JsonSlice capabilities, String logLevel) implements Client {

  static StatelessClient of(Map<String, JsonSlice> meta) {
    return new StatelessClient(
        meta.get(MetaKeys.CAPABILITIES), JsonObjects.string(meta.get(MetaKeys.LOG_LEVEL)));
  }

  @Override
  public boolean hasEnded() {
    return false;
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
}
