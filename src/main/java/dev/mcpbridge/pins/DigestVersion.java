package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A way to digest definitions: which members count. A digest names its version, so that a later
 * version with more members does not make old pins differ. Stateless.
 *
 * @param label begins every digest of this version
 * @param members the members that count, by kind
 */
record DigestVersion(String label, Map<DefinitionKind, Set<String>> members) {

  /** Counts what a client shows to a person or a model. */
  static final DigestVersion V1 =
      new DigestVersion(
          "v1",
          new EnumMap<>(
              Map.of(
                  DefinitionKind.TOOL,
                  Set.of(
                      "name", "title", "description", "inputSchema", "outputSchema", "annotations"),
                  DefinitionKind.PROMPT,
                  Set.of("name", "title", "description", "arguments"),
                  DefinitionKind.TEMPLATE,
                  Set.of("uriTemplate", "name", "title", "description", "mimeType"),
                  DefinitionKind.INSTRUCTIONS,
                  Set.of("instructions"))));

  /** All versions, the present one first. */
  static final List<DigestVersion> ALL = List.of(V1);

  /**
   * The members that count in a canonical form: names sorted by code unit, numbers as they were
   * written, no blanks. Text that is not unambiguous JSON (duplicate names) counts as it is.
   */
  JsonSlice canonical(DefinitionKind kind, JsonSlice definition) {
    try {
      JsonNode tree = Json.exactTree(definition);
      if (tree instanceof ArrayNode entries) {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        entries.forEach(entry -> all.add(counted(kind, entry)));
        return Json.slice(all);
      }
      return tree.isObject() ? Json.slice(counted(kind, tree)) : definition;
    } catch (IOException e) {
      return definition;
    }
  }

  /** A canonical form as a tree; a text for what is not unambiguous JSON. */
  static JsonNode tree(JsonSlice canonical) {
    try {
      return Json.exactTree(canonical);
    } catch (IOException ambiguous) {
      return Json.object().textNode(canonical.text());
    }
  }

  private JsonNode counted(DefinitionKind kind, JsonNode entry) {
    return entry instanceof ObjectNode object
        ? sorted(object.deepCopy().retain(members.get(kind)))
        : entry;
  }

  private static JsonNode sorted(JsonNode node) {
    if (node.isObject()) {
      ObjectNode sorted = Json.object();
      Set<String> names = new TreeSet<>();
      node.fieldNames().forEachRemaining(names::add);
      names.forEach(name -> sorted.set(name, sorted(node.get(name))));
      return sorted;
    }
    if (node.isArray()) {
      ArrayNode items = JsonNodeFactory.instance.arrayNode(node.size());
      node.forEach(item -> items.add(sorted(item)));
      return items;
    }
    return node;
  }

  /** The digest of a definition, such as {@code v1:sha256:…} with 64 hexadecimal digits. */
  String digest(ServerId server, DefinitionKind kind, JsonSlice definition) {
    String hash =
        Sha256.of("mcp-bridge/pin/" + label)
            .end()
            .add(kind.word())
            .end()
            .add(server.name())
            .end()
            .add(canonical(kind, definition))
            .hex();
    return prefix() + hash;
  }

  boolean isOf(String digest) {
    return digest.startsWith(prefix());
  }

  private String prefix() {
    return label + ":sha256:";
  }
}
