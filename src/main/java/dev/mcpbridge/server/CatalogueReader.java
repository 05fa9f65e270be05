package dev.mcpbridge.server;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes a catalogue of what a server listed. An entry without a usable name is left out; of two
 * tools of one name the first counts. What people should know of a tool is said with it.
 */
final class CatalogueReader {
  private static final int MAX_OMITTED = 1 << 18;
  private static final int MAX_NAMED = 5;
  private static final Set<String> CALLED_BY = Set.of("name", "uri", "uriTemplate");

  private final boolean removesHidden;
  private final Map<String, List<String>> warnings = new LinkedHashMap<>();

  private CatalogueReader(boolean removesHidden) {
    this.removesHidden = removesHidden;
  }

  /**
   * What a server listed.
   *
   * @param omitted what is not offered, as the server says it; null for nothing
   */
  record Lists(
      List<JsonSlice> tools,
      List<JsonSlice> resources,
      List<JsonSlice> templates,
      List<JsonSlice> prompts,
      JsonSlice omitted) {}

  /**
   * @param removesHidden whether characters that people do not see are taken out
   */
  static Catalogue read(Lists lists, boolean removesHidden) {
    return new CatalogueReader(removesHidden).catalogue(lists);
  }

  private Catalogue catalogue(Lists lists) {
    JsonSlice omitted = lists.omitted();
    boolean isTold = omitted != null && omitted.isObject() && omitted.length() <= MAX_OMITTED;
    return new Catalogue(
        tools(lists.tools()),
        shown(lists.resources()),
        shown(lists.templates()),
        shown(lists.prompts()),
        isTold ? omitted.detached() : null,
        warnings,
        digest(
            lists.tools(),
            lists.resources(),
            lists.templates(),
            lists.prompts(),
            isTold ? List.of(omitted) : List.of()));
  }

  private Map<String, Tool> tools(List<JsonSlice> entries) {
    List<Tool> read = new ArrayList<>();
    for (JsonSlice entry : entries) {
      Tool tool = Tool.of(shown(entry));
      if (tool != null) {
        read.add(tool);
        look(tool.name(), entry);
      }
    }
    Map<String, Tool> tools = Catalogue.byName(read);
    read.stream()
        .filter(tool -> tools.get(tool.name()) != tool)
        .forEach(tool -> warn(tool.name(), "another tool of this name is not offered"));
    return tools;
  }

  private void look(String tool, JsonSlice entry) {
    Set<Integer> hidden = HiddenCharacters.in(entry);
    if (!hidden.isEmpty()) {
      warn(
          tool,
          hidden.stream()
              .limit(MAX_NAMED)
              .map("U+%04X"::formatted)
              .collect(
                  Collectors.joining(
                      ", ",
                      "the definition has characters that people do not see: ",
                      removesHidden ? ", taken out here" : "")));
    }
  }

  private void warn(String tool, String sentence) {
    List<String> known = warnings.computeIfAbsent(tool, t -> new ArrayList<>());
    if (!known.contains(sentence)) {
      known.add(sentence);
    }
  }

  private List<JsonSlice> shown(List<JsonSlice> entries) {
    return entries.stream().map(this::shown).toList();
  }

  private JsonSlice shown(JsonSlice entry) {
    try {
      return removesHidden
          ? HiddenCharacters.removed(entry, CALLED_BY).detached()
          : entry.detached();
    } catch (IOException e) {
      return entry.detached();
    }
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
