package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Walks the schemas of a document that {@link SchemaNormalizer} has read; a value that only looks
 * like one (of {@code enum}, {@code const}, {@code default}) is none. Stateless.
 */
final class SubschemaWalker {
  private SubschemaWalker() {}

  /**
   * @param visit gets each place, a JSON Pointer, and the schema there, an outer one first
   */
  static void each(ObjectNode root, BiConsumer<String, ObjectNode> visit) {
    each(root, "", visit);
  }

  private static void each(JsonNode node, String place, BiConsumer<String, ObjectNode> visit) {
    if (!(node instanceof ObjectNode schema)) {
      return;
    }
    visit.accept(place, schema);
    for (Map.Entry<String, JsonNode> keyword : schema.properties()) {
      String at = SchemaNormalizer.at(place, keyword);
      JsonNode value = keyword.getValue();
      if (SchemaNormalizer.SCHEMAS.contains(keyword.getKey())) {
        each(value, at, visit);
      } else if (SchemaNormalizer.MAPS.contains(keyword.getKey())) {
        value.properties().forEach(e -> each(e.getValue(), SchemaNormalizer.at(at, e), visit));
      } else if (SchemaNormalizer.LISTS.contains(keyword.getKey())) {
        for (int i = 0; i < value.size(); i++) {
          each(value.get(i), at + "/" + i, visit);
        }
      }
    }
  }
}
