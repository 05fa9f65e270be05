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
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/** Reads the records of a trail in their order, without verifying them. Stateless; blocks. */
public final class AuditReader {
  private static final int MAX_LINE = 64 << 20;

  private AuditReader() {}

  /**
   * A record and where it stands.
   *
   * @param atMillis its time, by the wall clock
   * @param offset of its line in the file
   * @param text the line without its line feed
   */
  public record Line(JsonNode record, long atMillis, long offset, JsonSlice text) {
    long seq() {
      return record.path("seq").asLong();
    }

    /** Whether it is a result of a query. */
    public boolean matches(AuditQuery query) {
      String principal = query.principal();
      boolean isBy =
          principal == null
              || AuditQuery.PRINCIPALS.stream()
                  .anyMatch(by -> record.path(by).asText().equals(principal));
      return seq() < query.before()
          && atMillis >= query.sinceMillis()
          && atMillis < query.untilMillis()
          && isBy
          && query.members().entrySet().stream()
              .allMatch(each -> record.path(each.getKey()).asText().equals(each.getValue()));
    }
  }

  /** Receives the lines of a file. */
  interface Receiver {
    /**
     * @return whether more are wanted
     */
    boolean take(Line line) throws IOException;
  }

  /**
   * Reads a folder. A last line that is not complete is omitted.
   *
   * @throws IOException if it cannot be read, has no trail, or a line is no record
   */
  public static void read(Path folder, Consumer<Line> lines) throws IOException {
    List<Path> files = Segments.in(folder);
    if (files.isEmpty()) {
      throw new IOException(folder + " has no audit trail");
    }
    for (Path file : files) {
      read(
          file,
          0,
          line -> {
            lines.accept(line);
            return true;
          });
    }
  }

  /**
   * Reads a file, from the begin of one of its lines.
   *
   * @throws IOException if it cannot be read, or a line is no record
   */
  static void read(Path file, long from, Receiver lines) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 64 << 10)) {
      in.skipNBytes(from);
      long offset = from;
      boolean isWanted = true;
      while (isWanted) {
        byte[] line = Lines.next(in, MAX_LINE);
        if (line == null || line[line.length - 1] != '\n') {
          return;
        }
        isWanted = lines.take(line(file, offset, new JsonSlice(line, 0, line.length - 1)));
        offset += line.length;
      }
    }
  }

  private static Line line(Path file, long offset, JsonSlice text) throws IOException {
    try {
      JsonNode record = Json.tree(text);
      long atMillis = Instant.parse(record.path("at").asText()).toEpochMilli();
      return new Line(record, atMillis, offset, text);
    } catch (IOException | NumberFormatException | DateTimeException | ArithmeticException e) {
      throw new IOException(
          file + " has a line that is not a record; see mcp-bridge audit verify", e);
    }
  }
}
