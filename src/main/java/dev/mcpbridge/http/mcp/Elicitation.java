package dev.mcpbridge.http.mcp;

import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.Map;

/**
 * The gate's question as a form (client/elicitation): what is about to run, with its very
 * arguments, and one box to tick.
 */
final class Elicitation {
  /** The answer of somebody who wants it to run. */
  static final JsonSlice YES =
      JsonSlice.of("{\"action\":\"accept\",\"content\":{\"confirm\":true}}");

  private static final String BOX = "confirm";

  private Elicitation() {}

  /** The params of {@code elicitation/create}. */
  static JsonSlice question(Confirmation confirmation) {
    return new JsonWriter(1024)
        .beginObject()
        .member("mode", "form")
        .member("message", sentence(confirmation))
        .name("requestedSchema")
        .beginObject()
        .member("type", "object")
        .name("properties")
        .beginObject()
        .name(BOX)
        .beginObject()
        .member("type", "boolean")
        .member("title", "Run it")
        .member("description", "Tick to run exactly what is shown, once")
        .member("default", false)
        .endObject()
        .endObject()
        .name("required")
        .beginArray()
        .value(BOX)
        .endArray()
        .endObject()
        .endObject()
        .toSlice();
  }

  /** Whether the human accepted and ticked the box; nothing else is a yes. */
  static boolean isYes(JsonSlice answer) {
    Map<String, JsonSlice> members = JsonObjects.members(answer);
    JsonSlice content = members.get("content");
    return "accept".equals(JsonObjects.string(members.get("action")))
        && content != null
        && JsonSlice.of("true").equals(JsonObjects.members(content).get(BOX));
  }

  private static String further(String what, JsonSlice members) {
    return members.length() <= 2 ? "" : " and " + what + HiddenCharacters.shown(members.text());
  }

  static String sentence(Confirmation confirmation) {
    Target target = confirmation.call().target();
    return "Server '"
        + confirmation.call().server()
        + "' wants to run the "
        + target.kind().noun()
        + " '"
        + HiddenCharacters.shown(target.name())
        + "' with "
        + HiddenCharacters.shown(confirmation.call().arguments().text())
        + further("", confirmation.call().envelope().extras())
        + further("_meta ", confirmation.call().envelope().shownMeta())
        + " ("
        + confirmation.level().description()
        + ")";
  }
}
