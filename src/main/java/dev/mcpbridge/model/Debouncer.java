package dev.mcpbridge.model;

import io.vertx.core.Vertx;

/** Runs a task after a delay, once for all requests in the meantime. Confined to its context. */
public final class Debouncer {
  private final Vertx vertx;
  private final long millis;
  private final Runnable task;
  private boolean isScheduled;

  public Debouncer(Vertx vertx, long millis, Runnable task) {
    this.vertx = vertx;
    this.millis = millis;
    this.task = task;
  }

  public void schedule() {
    if (!isScheduled) {
      isScheduled = true;
      vertx.setTimer(millis, t -> run());
    }
  }

  private void run() {
    isScheduled = false;
    task.run();
  }
}
