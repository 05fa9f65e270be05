package dev.mcpbridge.model;

import io.vertx.core.Vertx;

/** Something that is done in a moment, once for all who ask meanwhile. Confined to its context. */
public final class Debouncer {
  private final Vertx vertx;
  private final long millis;
  private final Runnable task;
  private boolean isAsked;

  public Debouncer(Vertx vertx, long millis, Runnable task) {
    this.vertx = vertx;
    this.millis = millis;
    this.task = task;
  }

  public void ask() {
    if (!isAsked) {
      isAsked = true;
      vertx.setTimer(millis, t -> run());
    }
  }

  private void run() {
    isAsked = false;
    task.run();
  }
}
