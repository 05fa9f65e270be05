package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.Map;

/**
 * The gate's confirmation as a form (client/elicitation): the call with its exact arguments, and a
 * checkbox.
 */
final class Elicitation {
  /** The response that approves the call. */
  static final JsonSlice ACCEPTED =
      JsonSlice.of("{\"action\":\"accept\",\"content\":{\"confirm\":true}}");

  private static final JsonSlice SCHEMA =
      JsonSlice.of(
          """
          {"type":"object","properties":{"confirm":{"type":"boolean","title":"Run it",\
          "description":"Tick to run exactly what is shown, once","default":false}},\
          "required":["confirm"]}""");

  private Elicitation() {}

  /** The params of {@code elicitation/create}. */
  static JsonSlice question(Confirmation confirmation) {
    return new JsonWriter(1024)
        .beginObject()
        .member("mode", "form")
        .member("message", message(confirmation))
        .member("requestedSchema", SCHEMA)
        .endObject()
        .toSlice();
  }

  /** Whether the user accepted and ticked the box; anything else rejects the call. */
  static boolean isAccepted(JsonSlice answer) {
    Map<String, JsonSlice> members = JsonObjects.members(answer);
    JsonSlice content = members.get("content");
    return "accept".equals(JsonObjects.string(members.get("action")))
        && content != null
        && JsonSlice.of("true").equals(JsonObjects.members(content).get("confirm"));
  }

  private static String suffix(String label, JsonSlice members) {
    return members.length() <= 2 ? "" : " and " + label + HiddenCharacters.escaped(members.text());
  }

  static String message(Confirmation confirmation) {
    Target target = confirmation.call().target();
    return "The call of the "
        + target.kind().noun()
        + " '"
        + HiddenCharacters.escaped(target.name())
        + "' on server '"
        + confirmation.call().server()
        + "' with "
        + HiddenCharacters.escaped(confirmation.call().arguments().text())
        + suffix("", confirmation.call().envelope().extras())
        + suffix("_meta ", confirmation.call().envelope().reviewedMeta())
        + " needs confirmation ("
        + confirmation.level().description()
        + ")";
  }
}
