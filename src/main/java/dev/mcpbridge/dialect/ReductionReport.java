package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects what a reduction removes or relaxes. */
final class ReductionReport {
  /** Keywords that each dialect handles itself; the others are assertions or annotations. */
  private static final Set<String> STRUCTURAL_KEYWORDS =
      Set.of(
          "type",
          "properties",
          "required",
          "items",
          "enum",
          "const",
          "anyOf",
          "oneOf",
          "allOf",
          "$ref",
          "$defs",
          "definitions",
          "title",
          "description",
          "additionalProperties");

  private final Set<String> all = new LinkedHashSet<>();

  ReductionReport() {}

  /** Starts with a copy of another report. */
  ReductionReport(ReductionReport other) {
    all.addAll(other.all);
  }

  /**
   * @param pointer location as a JSON Pointer
   */
  void add(String pointer, String loss) {
    all.add((pointer.isEmpty() ? "/" : pointer) + ": " + loss);
  }

  /** Adds the assertions and annotations of a schema except those that are kept. */
  void addDropped(String pointer, JsonNode schema, Collection<String> kept, String loss) {
    schema.forEachEntry(
        (name, value) -> {
          if (!STRUCTURAL_KEYWORDS.contains(name) && !kept.contains(name)) {
            add(Schemas.at(pointer, name), loss);
          }
        });
  }

  List<String> all() {
    return List.copyOf(all);
  }
}
