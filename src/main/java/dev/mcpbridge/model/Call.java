package dev.mcpbridge.model;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
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

  /** The params of its request. */
  public JsonSlice params() {
    JsonWriter out = new JsonWriter(arguments.length() + 64).beginObject();
    return switch (target.kind()) {
      case TOOL, PROMPT ->
          out.member("name", target.name())
              .member("arguments", arguments)
              .membersOf(envelope.extras())
              .endObject()
              .toSlice();
      case RESOURCE ->
          out.member("uri", target.name()).membersOf(envelope.extras()).endObject().toSlice();
      case COMPLETION -> arguments;
    };
  }

  public Call withId(String other) {
    return new Call(other, server, target, arguments, caller, deadlineNanos, streaming, envelope);
  }

  public boolean isLate() {
    return deadlineNanos - System.nanoTime() <= 0;
  }

  public Call withTimeout(long millis) {
    return withTimeout(millis, System.nanoTime());
  }

  /**
   * @param sinceNanos when its time has begun, on {@link System#nanoTime()}'s clock
   */
  public Call withTimeout(long millis, long sinceNanos) {
    long deadline = sinceNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    return new Call(id, server, target, arguments, caller, deadline, streaming, envelope);
  }

  public Call withStreaming(boolean wanted) {
    return new Call(id, server, target, arguments, caller, deadlineNanos, wanted, envelope);
  }

  /** With one more member of the {@code _meta} of its request. */
  public Call withMeta(String name, JsonSlice value) {
    Envelope more = envelope.withMeta(name, value);
    return new Call(id, server, target, arguments, caller, deadlineNanos, streaming, more);
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
