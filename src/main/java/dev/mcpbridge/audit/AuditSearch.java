package dev.mcpbridge.audit;

import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Searches a trail from its end: the file that is being written line by line, those before it by
 * their indexes. Not thread-safe; blocks.
 */
final class AuditSearch {
  private static final Logger LOG = System.getLogger(AuditSearch.class.getName());
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final int MAX_BYTES = 2 << 20;

  private final Path folder;

  AuditSearch(Path folder) {
    this.folder = folder;
  }

  /**
   * Some results, and where to go on.
   *
   * @param records lines of the trail, the newest first
   * @param next number below which the search goes on; 0 at its end
   */
  record Page(List<JsonSlice> records, long next) {
    /** The form between nodes: {@code {"records": […], "next": …}}. */
    JsonSlice toJson() {
      JsonWriter out = new JsonWriter(4096).beginObject().name("records").beginArray();
      records.forEach(out::value);
      return out.endArray().member("next", next).endObject().toSlice();
    }
  }

  /** A result. */
  private record Found(long seq, JsonSlice line) {}

  /**
   * The newest results. There may be fewer than wanted although the search is not at its end, since
   * its time and the size of its results are bounded.
   */
  Page search(AuditQuery query) throws IOException {
    long endNanos = System.nanoTime() + MAX_NANOS;
    List<Path> files = Segments.in(folder);
    List<Found> results = new ArrayList<>();
    int bytes = 0;
    for (int i = files.size() - 1; i >= 0; i--) {
      Path file = files.get(i);
      long first = Segments.firstSeq(file);
      if (first >= query.before()) {
        continue;
      }
      for (Found found : find(file, i == files.size() - 1, query)) {
        bytes += found.line().length();
        if (results.size() == query.limit() || bytes > MAX_BYTES && !results.isEmpty()) {
          return page(results, results.get(results.size() - 1).seq());
        }
        results.add(found);
      }
      if (i > 0 && isOlder(files.get(i - 1), query.sinceMillis())) {
        break;
      }
      if (System.nanoTime() > endNanos && i > 0) {
        return page(results, first);
      }
    }
    return page(results, 0);
  }

  /** Whether nothing was added to a file since a time; also if it was deleted meanwhile. */
  private static boolean isOlder(Path file, long millis) throws IOException {
    try {
      return Files.getLastModifiedTime(file).toMillis() < millis;
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  private static Page page(List<Found> results, long next) {
    return new Page(results.stream().map(Found::line).toList(), next);
  }

  private static List<Found> find(Path file, boolean isOpen, AuditQuery query) throws IOException {
    try {
      return isOpen ? scan(file, query) : look(file, query);
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  /** The newest results, and at least one more than a page may have, if there is one. */
  private static List<Found> scan(Path file, AuditQuery query) throws IOException {
    Deque<Found> newest = new ArrayDeque<>();
    long[] bytes = {0};
    AuditReader.read(
        file,
        0,
        (record, offset, line) -> {
          if (AuditReader.matches(query, record)) {
            newest.addFirst(new Found(record.path("seq").asLong(), line));
            bytes[0] += line.length();
            while (newest.size() > query.limit() + 1
                || bytes[0] - newest.getLast().line().length() > MAX_BYTES) {
              bytes[0] -= newest.removeLast().line().length();
            }
          }
          return record.path("seq").asLong() < query.before();
        });
    return List.copyOf(newest);
  }

  /** A file whose index cannot be used is read as a whole, and indexed anew the next time. */
  private static List<Found> look(Path file, AuditQuery query) throws IOException {
    List<Long> offsets;
    try {
      offsets = SegmentIndex.find(file, query.withLimit(query.limit() + 1));
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.WARNING, "the index of {0} cannot be used: {1}", file, e.toString());
      SegmentIndex.delete(file);
      return scan(file, query);
    }
    List<Found> found = new ArrayList<>();
    long[] bytes = {0};
    for (long offset : offsets) {
      if (bytes[0] > MAX_BYTES) {
        break;
      }
      AuditReader.read(
          file,
          offset,
          (record, at, line) -> {
            if (AuditReader.matches(query, record)) {
              found.add(new Found(record.path("seq").asLong(), line));
              bytes[0] += line.length();
            }
            return false;
          });
    }
    return found;
  }
}
