package dev.mcpbridge.model;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.concurrent.TimeUnit;

/**
 * One call on its way, the same for every door.
 *
 * @param id unique in this process; names the call in logs, events and cancellations
 * @param arguments one JSON object on one line
 * @param deadlineNanos on {@link System#nanoTime()}'s clock
 * @param streaming whether the caller wants to hear of progress
 * @param envelope what else the client sent with it
 */
public record Call(
    String id,
    ServerId server,
    Target target,
    JsonSlice arguments,
    Caller caller,
    long deadlineNanos,
    boolean streaming,
    Envelope envelope) {

  public boolean isLate() {
    return deadlineNanos - System.nanoTime() <= 0;
  }

  public Call withTimeout(long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    return new Call(id, server, target, arguments, caller, deadline, streaming, envelope);
  }

  public Call withStreaming(boolean wanted) {
    return new Call(id, server, target, arguments, caller, deadlineNanos, wanted, envelope);
  }

  /** As if its client had not said that it can name folders to work in. */
  public Call withoutRoots() {
    Envelope less = envelope.without("roots");
    return new Call(id, server, target, arguments, caller, deadlineNanos, streaming, less);
  }

  @Override
  public String toString() {
    return "Call[" + id + " " + server + " " + target.kind().method() + "]";
  }
}
