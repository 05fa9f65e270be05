package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.Collection;

/**
 * One record of the audit trail, before it gets its place in the chain. Its members are written as
 * JSON at once: the thread that has their values at hand does that faster than another. Not
 * thread-safe; handed over when it is sent.
 */
public final class AuditRecord {
  private static final int MAX_TEXT = 2_048;

  /** Room for the members of a usual decision. */
  private static final int MEMBER_BYTES = 512;

  private final String event;
  private final Need need;
  private final long atMillis = System.currentTimeMillis();

  /** Without the brackets of an object. */
  private final JsonWriter members = new JsonWriter(MEMBER_BYTES);

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

  /**
   * Adds a member; null adds nothing. A text that is too long is cut, and a member NAME_length has
   * its length.
   */
  public AuditRecord with(String name, String text) {
    if (text != null) {
      members.bounded(name, text, MAX_TEXT);
    }
    return this;
  }

  public AuditRecord with(String name, long number) {
    members.member(name, number);
    return this;
  }

  /** Adds a sorted list; an empty one adds nothing. */
  public AuditRecord with(String name, Collection<String> texts) {
    if (!texts.isEmpty()) {
      members.name(name).beginArray();
      texts.stream().sorted().forEach(members::value);
      members.endArray();
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

  /** The members as JSON, separated by commas; empty without any. */
  public JsonSlice members() {
    return members.toSlice();
  }

  /** The arguments of a call; null without any. */
  public JsonSlice arguments() {
    return arguments;
  }

  /** The members as a JSON object. */
  @Override
  public String toString() {
    return "{" + members().text() + "}";
  }
}
