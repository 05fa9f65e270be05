package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * One record of the audit trail, before it gets its place in the chain. Not thread-safe; handed
 * over when it is sent, and written as JSON by the one who takes it.
 */
public final class AuditRecord {
  private static final int MAX_TEXT = 2_048;

  /** Room for the names and values of a decision. */
  private static final int MEMBERS = 32;

  private final String event;
  private final Need need;
  private final long atMillis = System.currentTimeMillis();

  /** Names and values in turns; a value is a text, a number, or a list of texts. */
  private final List<Object> members = new ArrayList<>(MEMBERS);

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
    if (text == null) {
      return this;
    }
    return text.length() <= MAX_TEXT
        ? add(name, text)
        : add(name, text.substring(0, MAX_TEXT)).add(name + "_length", (long) text.length());
  }

  public AuditRecord with(String name, long number) {
    return add(name, number);
  }

  /** Adds a sorted list; an empty one adds nothing. */
  public AuditRecord with(String name, Collection<String> texts) {
    return texts.isEmpty() ? this : add(name, texts.stream().sorted().toList());
  }

  private AuditRecord add(String name, Object value) {
    members.add(name);
    members.add(value);
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

  /** Writes the members into the open object. */
  public void writeMembers(JsonWriter out) {
    for (int i = 0; i < members.size(); i += 2) {
      out.name((String) members.get(i));
      Object value = members.get(i + 1);
      if (value instanceof String text) {
        out.value(text);
      } else if (value instanceof Long number) {
        out.value(number.longValue());
      } else {
        out.beginArray();
        ((List<?>) value).forEach(text -> out.value((String) text));
        out.endArray();
      }
    }
  }

  /** The arguments of a call; null without any. */
  public JsonSlice arguments() {
    return arguments;
  }

  /** The members as a JSON object. */
  @Override
  public String toString() {
    JsonWriter out = new JsonWriter().beginObject();
    writeMembers(out);
    return out.endObject().toSlice().text();
  }
}
