package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Everything a server offers, collected over all pages, in the server's order.
 *
 * @param resources entries of {@code resources/list}; templates and prompts likewise
 * @param omitted what the server reports as not offered, a JSON object; null for nothing
 * @param warnings warnings for people, by tool name
 * @param digest changes whenever an entry does; used as the entity tag
 */
public record Catalogue(
    Map<String, Tool> tools,
    List<JsonSlice> resources,
    List<JsonSlice> templates,
    List<JsonSlice> prompts,
    JsonSlice omitted,
    Map<String, List<String>> warnings,
    String digest) {

  public static final Catalogue EMPTY =
      new Catalogue(Map.of(), List.of(), List.of(), List.of(), null, Map.of(), "0");

  /** The same without resources, which may be one user's own. */
  public Catalogue withoutResources() {
    return new Catalogue(tools, List.of(), templates, prompts, omitted, warnings, digest);
  }

  /** The same with the tools whose names are kept. */
  public Catalogue withTools(Predicate<String> isKept) {
    Map<String, Tool> kept = new LinkedHashMap<>(tools);
    kept.keySet().removeIf(isKept.negate());
    Sha256 next = new Sha256().add(digest);
    kept.keySet().forEach(name -> next.add(name).end());
    return new Catalogue(kept, resources, templates, prompts, omitted, warnings, next.hex(32));
  }

  /** The entries whose member of this name is a text that is kept. */
  public static List<JsonSlice> kept(
      List<JsonSlice> entries, String member, Predicate<String> isKept) {
    return entries.stream()
        .filter(
            entry -> {
              String text = JsonObjects.string(JsonObjects.members(entry).get(member));
              return text != null && isKept.test(text);
            })
        .toList();
  }

  public static Map<String, Tool> byName(Collection<Tool> tools) {
    Map<String, Tool> map = new LinkedHashMap<>();
    tools.forEach(tool -> map.putIfAbsent(tool.name(), tool));
    return map;
  }
}
