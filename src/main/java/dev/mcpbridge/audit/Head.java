package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The last checkpoint, kept beside the files, so that records that are cut off at the end are
 * missed.
 *
 * @param seq its number
 * @param hash its hash
 */
record Head(long seq, String hash) {
  private static final String FILE = "audit.head";

  /** Blocks. */
  static void write(Path folder, Head head) throws IOException {
    String text = Json.object().put("seq", head.seq()).put("hash", head.hash()).toString();
    PrivateFile.replace(folder.resolve(FILE), text + "\n");
  }

  /**
   * Blocks.
   *
   * @return null without one
   */
  static Head in(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    if (!Files.exists(file)) {
      return null;
    }
    JsonNode json = Json.tree(Files.readAllBytes(file));
    return new Head(json.path("seq").asLong(), json.path("hash").asText());
  }
}
