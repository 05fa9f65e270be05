package dev.mcpbridge.protocol;

import java.util.Map;

/**
 * What travels with a request beside its target and arguments, from the client to the server and
 * not read on the way.
 *
 * @param extras further members of {@code params}, as one object
 * @param meta members of {@code _meta} but for those that each hop writes itself, as one object
 * @param capabilities what the client declares; nothing for a client that can be asked nothing
 * @param logLevel from which severity on the client wants to hear of it; null for the server's own
 */
public record Envelope(JsonSlice extras, JsonSlice meta, JsonSlice capabilities, String logLevel) {

  public static final Envelope NONE =
      new Envelope(JsonSlice.EMPTY_OBJECT, JsonSlice.EMPTY_OBJECT, JsonSlice.EMPTY_OBJECT, null);

  /** Whether the client can be asked in a mode; {@code elicitation: {}} means forms only. */
  public boolean elicits(String mode) {
    JsonSlice elicitation = JsonObjects.members(capabilities).get("elicitation");
    if (elicitation == null || !elicitation.isObject()) {
      return false;
    }
    Map<String, JsonSlice> modes = JsonObjects.members(elicitation);
    return modes.isEmpty() ? mode.equals("form") : modes.containsKey(mode);
  }

  /** The members of {@code _meta} that a human who approves the call has to see, as one object. */
  public JsonSlice shownMeta() {
    if (meta.length() <= 2) {
      return JsonSlice.EMPTY_OBJECT;
    }
    JsonWriter out = new JsonWriter().beginObject();
    JsonObjects.members(meta)
        .forEach(
            (name, value) -> {
              if (MetaKeys.isShown(name)) {
                out.member(name, value);
              }
            });
    return out.endObject().toSlice();
  }

  /** With one more member of {@code _meta}. */
  public Envelope withMeta(String name, JsonSlice value) {
    return new Envelope(extras, JsonObjects.with(meta, name, value), capabilities, logLevel);
  }

  /** As if the client had not declared a capability. */
  public Envelope without(String capability) {
    return offers(capability)
        ? new Envelope(extras, meta, JsonObjects.without(capabilities, capability), logLevel)
        : this;
  }

  /** Whether the client declares a capability. */
  public boolean offers(String capability) {
    return capabilities.length() > 2 && JsonObjects.members(capabilities).containsKey(capability);
  }
}
