package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import java.util.List;

/**
 * Digests of an entry, including the values of its placeholders.
 *
 * @param ofProgram digest of what is started or called; differs for different programs
 * @param ofEntry digest of the whole entry: equal exactly if the entries are equal
 */
record EntryDigests(String ofProgram, String ofEntry) {

  /**
   * @param resolved the values of the placeholders that were read
   */
  static EntryDigests of(JsonNode entry, List<String> resolved) {
    JsonNode program = entry.deepCopy();
    if (program instanceof ObjectNode members) {
      members.remove(ConfigSchema.entryKeys("operational"));
    }
    return new EntryDigests(digest(program, resolved), digest(entry, resolved));
  }

  private static String digest(JsonNode entry, List<String> resolved) {
    Sha256 digest = Sha256.of(Json.slice(entry).text()).end();
    resolved.forEach(text -> digest.add(text).end());
    return digest.hex();
  }
}
