package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.Collection;

/**
 * One record of the audit trail, before it gets its place in the chain. Not thread-safe; handed
 * over when it is sent.
 */
public final class AuditRecord {
  private static final int MAX_TEXT = 2_048;

  private final String event;
  private final Need need;
  private final long atMillis = System.currentTimeMillis();
  private final JsonWriter out = new JsonWriter(512).beginObject();
  private JsonSlice members;
  private JsonSlice arguments;

  /** What has to be true of a record before its sender goes on. */
  public enum Need {
    /** Nothing. */
    NONE,
    /** That it can be written, unless the operator has decided otherwise. */
    ACCEPTED,
    /** Likewise, and in strict mode that it is on the disk. */
    DURABLE
  }

  /**
   * @param event what has happened, such as {@code call.decision}
   */
  public AuditRecord(String event, Need need) {
    this.event = event;
    this.need = need;
  }

  /** A record that its sender does not wait for. */
  public AuditRecord(String event) {
    this(event, Need.NONE);
  }

  /** Adds a member, cut to a bounded length; null adds nothing. */
  public AuditRecord with(String name, String text) {
    if (text != null) {
      out.bounded(name, text, MAX_TEXT);
    }
    return this;
  }

  public AuditRecord with(String name, long number) {
    out.member(name, number);
    return this;
  }

  /** Adds a list; an empty one adds nothing. */
  public AuditRecord with(String name, Collection<String> texts) {
    if (!texts.isEmpty()) {
      out.name(name).beginArray();
      texts.stream().sorted().forEach(out::value);
      out.endArray();
    }
    return this;
  }

  /** The arguments of a call, of which the trail has what is configured. */
  public AuditRecord withArguments(JsonSlice ofCall) {
    arguments = ofCall;
    return this;
  }

  public String event() {
    return event;
  }

  public Need need() {
    return need;
  }

  /** When it has happened, by the wall clock. */
  public long atMillis() {
    return atMillis;
  }

  /** The members as an object; none can be added after it. */
  public JsonSlice members() {
    if (members == null) {
      members = out.endObject().toSlice();
    }
    return members;
  }

  /** The arguments of a call; null without any. */
  public JsonSlice arguments() {
    return arguments;
  }
}
