package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/** Reads the records of a trail in their order, without verifying them. Stateless; blocks. */
public final class AuditReader {
  private static final int MAX_LINE = 64 << 20;

  private AuditReader() {}

  /** Receives the records of a file. */
  interface Receiver {
    /**
     * @param offset of its line in the file
     * @param line without its line feed
     * @return whether more are wanted
     */
    boolean take(JsonNode record, long offset, JsonSlice line) throws IOException;
  }

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
      read(
          file,
          0,
          (record, offset, line) -> {
            records.accept(record);
            return true;
          });
    }
  }

  /**
   * Reads a file, from the begin of one of its lines.
   *
   * @throws IOException if it cannot be read, or a line is not JSON
   */
  static void read(Path file, long from, Receiver records) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 64 << 10)) {
      in.skipNBytes(from);
      long offset = from;
      boolean isWanted = true;
      while (isWanted) {
        byte[] line = Lines.next(in, MAX_LINE);
        if (line == null || line[line.length - 1] != '\n') {
          return;
        }
        JsonSlice json = new JsonSlice(line, 0, line.length - 1);
        isWanted = records.take(parsed(file, json), offset, json);
        offset += line.length;
      }
    }
  }

  /** Whether a record is a result of a query. */
  public static boolean matches(AuditQuery query, JsonNode record) {
    long seq = record.path("seq").asLong();
    long millis = Instant.parse(record.path("at").asText("1970-01-01T00:00:00Z")).toEpochMilli();
    String principal = query.principal();
    boolean isBy =
        principal == null
            || AuditQuery.PRINCIPALS.stream()
                .anyMatch(by -> record.path(by).asText().equals(principal));
    return seq < query.before()
        && millis >= query.sinceMillis()
        && millis < query.untilMillis()
        && isBy
        && query.members().entrySet().stream()
            .allMatch(each -> record.path(each.getKey()).asText().equals(each.getValue()));
  }

  private static JsonNode parsed(Path file, JsonSlice line) throws IOException {
    try {
      return Json.tree(line);
    } catch (IOException | NumberFormatException e) {
      throw new IOException(file + " has a line that is not JSON; see mcp-bridge audit verify", e);
    }
  }
}
