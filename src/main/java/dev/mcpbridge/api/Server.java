package dev.mcpbridge.api;

import dev.mcpbridge.model.ServerView;

/**
 * A server behind the bridge.
 *
 * @param state as {@code state} in the HTTP API, such as {@code ready} or {@code failed}
 * @param takesCalls whether calls run at once
 * @param problem why it is not ready; empty if nothing is known to be wrong
 */
public record Server(String name, String state, boolean takesCalls, String problem) {
  static Server of(ServerView view) {
    return new Server(
        view.id().name(),
        view.state().apiName(),
        view.state().takesCalls(),
        view.lastError() == null ? "" : view.lastError().reason());
  }
}
