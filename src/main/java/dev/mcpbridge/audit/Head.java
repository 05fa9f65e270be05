package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The last checkpoint, kept beside the files, so that records that are cut off at the end are
 * missed.
 *
 * @param node name of the node; null for a single node
 * @param seq its number
 * @param prev the hash of the record before it
 * @param signature as in the checkpoint
 */
record Head(String node, long seq, String prev, String signature) {
  private static final String FILE = "audit.head";

  /** Blocks. */
  void write(Path folder) throws IOException {
    PrivateFile.replace(folder.resolve(FILE), toJson().text() + "\n");
  }

  JsonSlice toJson() {
    return Json.slice(
        Json.object()
            .put("node", node)
            .put("seq", seq)
            .put("prev", prev)
            .put("signature", signature));
  }

  /**
   * Blocks.
   *
   * @return null without one
   */
  static Head in(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    return Files.exists(file) ? read(file) : null;
  }

  /** Blocks. */
  static Head read(Path file) throws IOException {
    try {
      JsonNode json = Json.tree(Files.readAllBytes(file));
      return new Head(
          json.path("node").textValue(),
          json.path("seq").asLong(),
          json.path("prev").asText(),
          json.path("signature").asText());
    } catch (IOException e) {
      throw new IOException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  boolean isSignedBy(String publicKey) {
    return AuditKey.isSigned(publicKey, Chain.signedText(node, seq, prev), signature);
  }
}
