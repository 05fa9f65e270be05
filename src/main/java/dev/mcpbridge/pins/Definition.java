package dev.mcpbridge.pins;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A definition as a server offers it.
 *
 * @param json the whole entry of the server's list; an array of several entries with the same name;
 *     {@code {"instructions": …}} for instructions
 */
public record Definition(Name name, JsonSlice json) {

  /** What identifies a definition within its server. */
  public record Name(DefinitionKind kind, String text) implements Comparable<Name> {
    @Override
    public int compareTo(Name other) {
      int byKind = kind.compareTo(other.kind);
      return byKind == 0 ? text.compareTo(other.text) : byKind;
    }

    @Override
    public String toString() {
      return text.isEmpty() ? kind.word() : kind.word() + " " + text;
    }
  }

  /** All definitions of a server, in its order. Entries with the same name are one definition. */
  static Map<Name, Definition> of(Catalogue catalogue, ServerIdentity identity) {
    Map<Name, List<JsonSlice>> all = new LinkedHashMap<>();
    for (Tool tool : catalogue.tools().values()) {
      add(all, DefinitionKind.TOOL, tool.name(), tool.definition());
    }
    for (JsonSlice prompt : catalogue.prompts()) {
      add(all, DefinitionKind.PROMPT, nameOf(DefinitionKind.PROMPT, prompt), prompt);
    }
    for (JsonSlice template : catalogue.templates()) {
      add(all, DefinitionKind.TEMPLATE, nameOf(DefinitionKind.TEMPLATE, template), template);
    }
    if (identity != null && identity.instructions() != null) {
      JsonSlice instructions = JsonObjects.quoted(identity.instructions());
      add(
          all,
          DefinitionKind.INSTRUCTIONS,
          "",
          JsonObjects.object(Map.of("instructions", instructions)));
    }
    Map<Name, Definition> definitions = new LinkedHashMap<>();
    all.forEach((name, entries) -> definitions.put(name, new Definition(name, joined(entries))));
    return definitions;
  }

  private static void add(
      Map<Name, List<JsonSlice>> all, DefinitionKind kind, String name, JsonSlice entry) {
    all.computeIfAbsent(new Name(kind, name), n -> new ArrayList<>()).add(entry);
  }

  private static JsonSlice joined(List<JsonSlice> entries) {
    if (entries.size() == 1) {
      return entries.get(0);
    }
    JsonWriter out = new JsonWriter(1024).beginArray();
    entries.forEach(out::value);
    return out.endArray().toSlice();
  }

  /** The name of an entry of a list; empty for one without a name. */
  static String nameOf(DefinitionKind kind, JsonSlice entry) {
    String member = kind == DefinitionKind.TEMPLATE ? "uriTemplate" : "name";
    String name = JsonObjects.string(JsonObjects.members(entry).get(member));
    return name == null ? "" : name;
  }
}
