package dev.mcpbridge.model;

import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import java.util.concurrent.TimeUnit;

/**
 * One call, the same for every door.
 *
 * @param id unique in this process; identifies the call in logs, events and cancellations
 * @param arguments one JSON object on one line
 * @param deadlineNanos by {@link System#nanoTime()}
 * @param streaming whether the caller wants progress events
 * @param envelope what else the client sent with it
 * @param cancellation cancels the call at this node and, through this node, at others
 */
public record Call(
    String id,
    ServerId server,
    Target target,
    JsonSlice arguments,
    Caller caller,
    long deadlineNanos,
    boolean streaming,
    Envelope envelope,
    CancellationToken cancellation) {

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
    return with(newId, deadlineNanos, streaming, envelope, cancellation);
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
    return with(id, deadline, streaming, envelope, cancellation);
  }

  /** The same call with a credential for an API behind the bridge. */
  public Call withAuthorization(String credential) {
    return new Call(
        id,
        server,
        target,
        arguments,
        caller.withAuthorization(credential),
        deadlineNanos,
        streaming,
        envelope,
        cancellation);
  }

  public Call withStreaming(boolean enabled) {
    return with(id, deadlineNanos, enabled, envelope, cancellation);
  }

  /** With an additional member in the {@code _meta} of the request. */
  public Call withMeta(String name, JsonSlice value) {
    return with(id, deadlineNanos, streaming, envelope.withMeta(name, value), cancellation);
  }

  /** The same call, which is neither answered from the cache nor kept there. */
  public Call uncached() {
    return withMeta(MetaKeys.CACHE, JsonSlice.of("\"no-store\""));
  }

  public Call withEnvelope(Envelope sent) {
    return sent == envelope ? this : with(id, deadlineNanos, streaming, sent, cancellation);
  }

  /** Without the client capability {@code roots}. */
  public Call withoutRoots() {
    return with(id, deadlineNanos, streaming, envelope.without("roots"), cancellation);
  }

  public Call withCancellation(CancellationToken token) {
    return with(id, deadlineNanos, streaming, envelope, token);
  }

  private Call with(
      String newId, long deadline, boolean streams, Envelope sent, CancellationToken token) {
    return new Call(newId, server, target, arguments, caller, deadline, streams, sent, token);
  }

  @Override
  public String toString() {
    return "Call[" + id + " " + server + " " + target.kind().method() + "]";
  }
}
