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
 * Builds a catalogue from the lists of a server. An entry without a usable name is omitted; of two
 * tools with the same name the first is used. Problems of a tool are reported as its warnings.
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
   * The lists of a server.
   *
   * @param omitted what the server reports as not offered; null for nothing
   */
  record Lists(
      List<JsonSlice> tools,
      List<JsonSlice> resources,
      List<JsonSlice> templates,
      List<JsonSlice> prompts,
      JsonSlice omitted) {}

  /**
   * @param removesHidden whether invisible characters are removed
   */
  static Catalogue read(Lists lists, boolean removesHidden) {
    return new CatalogueReader(removesHidden).catalogue(lists);
  }

  private Catalogue catalogue(Lists lists) {
    JsonSlice omitted = lists.omitted();
    boolean hasOmitted = omitted != null && omitted.isObject() && omitted.length() <= MAX_OMITTED;
    return new Catalogue(
        tools(lists.tools()),
        cleaned(lists.resources()),
        cleaned(lists.templates()),
        cleaned(lists.prompts()),
        hasOmitted ? omitted.detached() : null,
        warnings,
        digest(
            lists.tools(),
            lists.resources(),
            lists.templates(),
            lists.prompts(),
            hasOmitted ? List.of(omitted) : List.of()));
  }

  private Map<String, Tool> tools(List<JsonSlice> entries) {
    List<Tool> read = new ArrayList<>();
    for (JsonSlice entry : entries) {
      Tool tool = Tool.of(cleaned(entry));
      if (tool != null) {
        read.add(tool);
        checkHidden(tool.name(), entry);
      }
    }
    Map<String, Tool> tools = Catalogue.byName(read);
    read.stream()
        .filter(tool -> tools.get(tool.name()) != tool)
        .forEach(tool -> warn(tool.name(), "another tool with this name is not offered"));
    return tools;
  }

  private void checkHidden(String tool, JsonSlice entry) {
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
                      "the definition contains invisible characters: ",
                      removesHidden ? ", removed here" : "")));
    }
  }

  private void warn(String tool, String warning) {
    List<String> ofTool = warnings.computeIfAbsent(tool, t -> new ArrayList<>());
    if (!ofTool.contains(warning)) {
      ofTool.add(warning);
    }
  }

  private List<JsonSlice> cleaned(List<JsonSlice> entries) {
    return entries.stream().map(this::cleaned).toList();
  }

  private JsonSlice cleaned(JsonSlice entry) {
    try {
      return removesHidden
          ? HiddenCharacters.withoutHidden(entry, CALLED_BY).detached()
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
