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
 */
public record Envelope(JsonSlice extras, JsonSlice meta, JsonSlice capabilities, String logLevel) {

  public static final Envelope NONE =
      new Envelope(JsonSlice.EMPTY_OBJECT, JsonSlice.EMPTY_OBJECT, JsonSlice.EMPTY_OBJECT, null);

  public Envelope withExtras(JsonSlice other) {
    return new Envelope(other, meta, capabilities, logLevel);
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
    return new Envelope(extras, JsonObjects.with(meta, name, value), capabilities, logLevel);
  }

  /** A copy without a member of {@code _meta}. */
  public Envelope withoutMeta(String name) {
    return meta.length() > 2 && JsonObjects.members(meta).containsKey(name)
        ? new Envelope(extras, JsonObjects.without(meta, name), capabilities, logLevel)
        : this;
  }

  /** A copy as of a client that accepts no requests. */
  public Envelope withoutCapabilities() {
    return new Envelope(extras, meta, JsonSlice.EMPTY_OBJECT, logLevel);
  }

  /** A copy without one of the client's capabilities. */
  public Envelope without(String capability) {
    return hasCapability(capability)
        ? new Envelope(extras, meta, JsonObjects.without(capabilities, capability), logLevel)
        : this;
  }

  /** Whether the client declares a capability. */
  public boolean hasCapability(String capability) {
    return capabilities.length() > 2 && JsonObjects.members(capabilities).containsKey(capability);
  }
}
