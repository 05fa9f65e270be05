package dev.mcpbridge.protocol;

import java.util.Map;

/**
 * The parts of a request other than its target and arguments. They are passed from the client to
 * the server without being interpreted.
 *
 * @param extras further members of {@code params}, as one object
 * @param meta members of {@code _meta} except those that each hop writes itself, as one object
 * @param capabilities the client's capabilities; empty for a client that accepts no requests
 * @param logLevel the lowest severity the client requests; null for the server's default
 * @param urgency how urgent the call is, as in {@link Urgency}: until the call is admitted what the
 *     client asks for, and then what its caller may have
 */
public record Envelope(
    JsonSlice extras, JsonSlice meta, JsonSlice capabilities, String logLevel, int urgency) {

  public static final Envelope NONE =
      new Envelope(JsonSlice.EMPTY_OBJECT, JsonSlice.EMPTY_OBJECT, JsonSlice.EMPTY_OBJECT, null);

  /** An envelope of a client that does not say how urgent its call is. */
  public Envelope(JsonSlice extras, JsonSlice meta, JsonSlice capabilities, String logLevel) {
    this(extras, meta, capabilities, logLevel, Urgency.UNSPECIFIED);
  }

  public Envelope withExtras(JsonSlice other) {
    return new Envelope(other, meta, capabilities, logLevel, urgency);
  }

  public Envelope withUrgency(int other) {
    return other == urgency ? this : new Envelope(extras, meta, capabilities, logLevel, other);
  }

  /** A copy of a call that its client does not wait for: less urgent, unless the client says so. */
  public Envelope inBackground() {
    return urgency == Urgency.UNSPECIFIED ? withUrgency(Urgency.UNSPECIFIED_IN_BACKGROUND) : this;
  }

  /** Whether the client supports an elicitation mode; {@code elicitation: {}} means forms only. */
  public boolean supportsElicitation(String mode) {
    JsonSlice elicitation = JsonObjects.members(capabilities).get("elicitation");
    if (elicitation == null || !elicitation.isObject()) {
      return false;
    }
    Map<String, JsonSlice> modes = JsonObjects.members(elicitation);
    return modes.isEmpty() ? mode.equals("form") : modes.containsKey(mode);
  }

  /** The members of {@code _meta} that the human who confirms the call must see, as one object. */
  public JsonSlice reviewedMeta() {
    Map<String, JsonSlice> members = JsonObjects.members(meta);
    members.keySet().removeIf(name -> !MetaKeys.isReviewed(name));
    return JsonObjects.object(members);
  }

  /** A copy with a member of {@code _meta} set. */
  public Envelope withMeta(String name, JsonSlice value) {
    return new Envelope(
        extras, JsonObjects.with(meta, name, value), capabilities, logLevel, urgency);
  }

  /** A copy without a member of {@code _meta}. */
  public Envelope withoutMeta(String name) {
    return meta.length() > 2 && JsonObjects.members(meta).containsKey(name)
        ? new Envelope(extras, JsonObjects.without(meta, name), capabilities, logLevel, urgency)
        : this;
  }

  /** A copy as of a client that accepts no requests. */
  public Envelope withoutCapabilities() {
    return new Envelope(extras, meta, JsonSlice.EMPTY_OBJECT, logLevel, urgency);
  }

  /** A copy without one of the client's capabilities. */
  public Envelope without(String capability) {
    return hasCapability(capability)
        ? new Envelope(
            extras, meta, JsonObjects.without(capabilities, capability), logLevel, urgency)
        : this;
  }

  /** Whether the client declares a capability. */
  public boolean hasCapability(String capability) {
    return capabilities.length() > 2 && JsonObjects.members(capabilities).containsKey(capability);
  }
}
