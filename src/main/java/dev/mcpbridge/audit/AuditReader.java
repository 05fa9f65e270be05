package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Reads the records of a trail in their order, without verifying them. Stateless; blocks. */
public final class AuditReader {
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
      boolean isLast = file.equals(files.get(files.size() - 1));
      try (BufferedReader lines = Files.newBufferedReader(file)) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          JsonNode record = parsed(file, line, isLast && !lines.ready());
          if (record != null) {
            records.accept(record);
          }
        }
      }
    }
  }

  private static JsonNode parsed(Path file, String line, boolean mayBeTorn) throws IOException {
    try {
      return Json.exactTree(line);
    } catch (IOException e) {
      if (mayBeTorn) {
        return null;
      }
      throw new IOException(file + " has a line that is not JSON; see mcp-bridge audit verify", e);
    }
  }
}
