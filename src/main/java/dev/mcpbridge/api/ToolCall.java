package dev.mcpbridge.api;

import io.vertx.core.Future;

/** A call that has begun. Thread-safe. */
public interface ToolCall {
  /** How it ends; fails only if the bridge is closed before. */
  Future<Outcome> outcome();

  /** Cancels it, unless it has ended. Its outcome then fails with {@code cancelled}. */
  void cancel();
}
