package dev.mcpbridge.server;

import dev.mcpbridge.bus.Addresses.ServerRequest;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;

/** A listener that ignores all events. */
enum IgnoringListener implements Upstream.Listener {
  INSTANCE;

  @Override
  public void changed(ServerView view) {}

  @Override
  public void callEvent(Call call, String name, JsonSlice params) {}

  @Override
  public void resourceUpdated(String conversation, String uri, JsonSlice params) {}

  @Override
  public Future<JsonSlice> serverRequest(Call call, ServerRequest serverRequest) {
    return Future.failedFuture("No client is connected");
  }
}
