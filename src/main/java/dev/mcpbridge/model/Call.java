package dev.mcpbridge.model;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.concurrent.TimeUnit;

/**
 * One call, the same for every door.
 *
 * @param id unique in this process; identifies the call in logs, events and cancellations
 * @param arguments one JSON object on one line
 * @param deadlineNanos by {@link System#nanoTime()}
 * @param streaming whether the caller wants progress events
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

  /** The params of the MCP request. */
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

  public Call withId(String newId) {
    return new Call(newId, server, target, arguments, caller, deadlineNanos, streaming, envelope);
  }

  public boolean isExpired() {
    return deadlineNanos - System.nanoTime() <= 0;
  }

  public Call withTimeout(long millis) {
    return withTimeout(millis, System.nanoTime());
  }

  /**
   * @param sinceNanos start of the timeout, by {@link System#nanoTime()}
   */
  public Call withTimeout(long millis, long sinceNanos) {
    long deadline = sinceNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    return new Call(id, server, target, arguments, caller, deadline, streaming, envelope);
  }

  public Call withStreaming(boolean enabled) {
    return new Call(id, server, target, arguments, caller, deadlineNanos, enabled, envelope);
  }

  /** With an additional member in the {@code _meta} of the request. */
  public Call withMeta(String name, JsonSlice value) {
    Envelope more = envelope.withMeta(name, value);
    return new Call(id, server, target, arguments, caller, deadlineNanos, streaming, more);
  }

  /** Without the client capability {@code roots}. */
  public Call withoutRoots() {
    Envelope less = envelope.without("roots");
    return new Call(id, server, target, arguments, caller, deadlineNanos, streaming, less);
  }

  @Override
  public String toString() {
    return "Call[" + id + " " + server + " " + target.kind().method() + "]";
  }
}
