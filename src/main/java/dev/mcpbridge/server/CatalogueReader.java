package dev.mcpbridge.server;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes a catalogue of what a server listed. An entry without a usable name is left out. */
final class CatalogueReader {
  private static final int MAX_NAME = 256;

  private CatalogueReader() {}

  static Catalogue read(
      List<JsonSlice> tools,
      List<JsonSlice> resources,
      List<JsonSlice> templates,
      List<JsonSlice> prompts) {
    List<Tool> read = new ArrayList<>();
    for (JsonSlice entry : tools) {
      Tool tool = tool(entry.detached());
      if (tool != null) {
        read.add(tool);
      }
    }
    return new Catalogue(
        Catalogue.byName(read),
        detached(resources),
        detached(templates),
        detached(prompts),
        digest(tools, resources, templates, prompts));
  }

  private static Tool tool(JsonSlice definition) {
    Map<String, JsonSlice> members = JsonObjects.members(definition);
    String name = JsonObjects.string(members.get("name"));
    if (name == null || name.isEmpty() || name.length() > MAX_NAME || hasControls(name)) {
      return null;
    }
    return new Tool(
        name,
        text(members.get("title")),
        text(members.get("description")),
        definition,
        object(members.get("inputSchema")),
        object(members.get("outputSchema")),
        isDestructive(members.get("annotations")),
        new Sha256().add(definition).hex());
  }

  private static String text(JsonSlice member) {
    String text = JsonObjects.string(member);
    return text == null ? "" : text;
  }

  private static JsonSlice object(JsonSlice schema) {
    return schema != null && schema.isObject() ? schema : null;
  }

  private static boolean isDestructive(JsonSlice annotations) {
    if (annotations == null) {
      return false;
    }
    JsonSlice hint = JsonObjects.members(annotations).get("destructiveHint");
    return hint != null && hint.text().equals("true");
  }

  private static boolean hasControls(String name) {
    return name.chars().anyMatch(Character::isISOControl);
  }

  private static List<JsonSlice> detached(List<JsonSlice> entries) {
    return entries.stream().map(JsonSlice::detached).toList();
  }

  @SafeVarargs
  private static String digest(List<JsonSlice>... lists) {
    Sha256 digest = new Sha256();
    for (List<JsonSlice> list : lists) {
      list.forEach(digest::add);
      digest.end();
    }
    return digest.hex(32);
  }
}
