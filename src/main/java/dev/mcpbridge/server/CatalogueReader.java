package dev.mcpbridge.server;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.util.ArrayList;
import java.util.List;

/** Makes a catalogue of what a server listed. An entry without a usable name is left out. */
final class CatalogueReader {
  private static final int MAX_OMITTED = 1 << 18;

  private CatalogueReader() {}

  /**
   * @param omitted what is not offered, as the server says it; null for nothing
   */
  static Catalogue read(
      List<JsonSlice> tools,
      List<JsonSlice> resources,
      List<JsonSlice> templates,
      List<JsonSlice> prompts,
      JsonSlice omitted) {
    boolean isTold = omitted != null && omitted.isObject() && omitted.length() <= MAX_OMITTED;
    List<Tool> read = new ArrayList<>();
    for (JsonSlice entry : tools) {
      Tool tool = Tool.of(entry.detached());
      if (tool != null) {
        read.add(tool);
      }
    }
    return new Catalogue(
        Catalogue.byName(read),
        detached(resources),
        detached(templates),
        detached(prompts),
        isTold ? omitted.detached() : null,
        isTold
            ? digest(tools, resources, templates, prompts, List.of(omitted))
            : digest(tools, resources, templates, prompts));
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
