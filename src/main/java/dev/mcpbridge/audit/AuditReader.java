package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Reads the records of a trail in their order, without verifying them. Stateless; blocks. */
public final class AuditReader {
  private static final int MAX_LINE = 64 << 20;

  private AuditReader() {}

  /**
   * Reads a folder. A last line that is not complete is omitted.
   *
   * @throws IOException if it cannot be read, has no trail, or a line is not JSON
   */
  public static void read(Path folder, Consumer<JsonNode> records) throws IOException {
    List<Path> files = Segments.in(folder);
    if (files.isEmpty()) {
      throw new IOException(folder + " has no audit trail");
    }
    for (Path file : files) {
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
        for (byte[] line = Lines.next(in, MAX_LINE);
            line != null && line[line.length - 1] == '\n';
            line = Lines.next(in, MAX_LINE)) {
          records.accept(parsed(file, JsonSlice.of(line)));
        }
      }
    }
  }

  private static JsonNode parsed(Path file, JsonSlice line) throws IOException {
    try {
      return Json.tree(line);
    } catch (IOException | NumberFormatException e) {
      throw new IOException(file + " has a line that is not JSON; see mcp-bridge audit verify", e);
    }
  }
}
