package dev.mcpbridge.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Visits all subschemas of a schema that {@link SchemaNormalizer} has normalised. Values of {@code
 * enum}, {@code const} and {@code default} are not schemas and are skipped. Stateless.
 */
public final class SubschemaWalker {
  private SubschemaWalker() {}

  /**
   * @param visit receives the JSON Pointer and the schema, outer schemas first
   */
  public static void each(ObjectNode root, BiConsumer<String, ObjectNode> visit) {
    each(root, "", visit);
  }

  private static void each(JsonNode node, String pointer, BiConsumer<String, ObjectNode> visit) {
    if (!(node instanceof ObjectNode schema)) {
      return;
    }
    visit.accept(pointer, schema);
    for (Map.Entry<String, JsonNode> keyword : schema.properties()) {
      String at = SchemaNormalizer.at(pointer, keyword);
      JsonNode value = keyword.getValue();
      if (SchemaNormalizer.SCHEMA_KEYWORDS.contains(keyword.getKey())) {
        each(value, at, visit);
      } else if (SchemaNormalizer.SCHEMA_MAP_KEYWORDS.contains(keyword.getKey())) {
        value.properties().forEach(e -> each(e.getValue(), SchemaNormalizer.at(at, e), visit));
      } else if (SchemaNormalizer.SCHEMA_LIST_KEYWORDS.contains(keyword.getKey())) {
        for (int i = 0; i < value.size(); i++) {
          each(value.get(i), at + "/" + i, visit);
        }
      }
    }
  }
}
