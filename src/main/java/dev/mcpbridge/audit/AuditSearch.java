package dev.mcpbridge.audit;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.AuditPage;
import dev.mcpbridge.model.AuditQuery;
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

  /** How much the times of files and records may differ. */
  private static final long CLOCK_MILLIS = 60_000;

  private final Path folder;

  AuditSearch(Path folder) {
    this.folder = folder;
  }

  /**
   * The newest results. There may be fewer than wanted although the search is not at its end, since
   * its time and the size of its results are bounded.
   *
   * @throws BridgeException INTERNAL if the trail cannot be read
   */
  AuditPage search(AuditQuery query) {
    try {
      return found(query);
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.WARNING, "the audit trail in {0} cannot be read: {1}", folder, e.toString());
      throw new BridgeException(
          ErrorCode.INTERNAL, "The audit trail cannot be read; see mcp-bridge audit verify", e);
    }
  }

  private AuditPage found(AuditQuery query) throws IOException {
    long endNanos = System.nanoTime() + MAX_NANOS;
    List<Path> files = Segments.in(folder);
    List<AuditPage.Line> results = new ArrayList<>();
    int bytes = 0;
    for (int i = files.size() - 1; i >= 0; i--) {
      Path file = files.get(i);
      long first = Segments.firstSeq(file);
      if (first >= query.before()) {
        continue;
      }
      for (AuditPage.Line found : find(file, i == files.size() - 1, query)) {
        bytes += found.text().length();
        if (results.size() == query.limit() || bytes > MAX_BYTES && !results.isEmpty()) {
          return new AuditPage(results, results.get(results.size() - 1).seq());
        }
        results.add(found);
      }
      if (i > 0 && isOlder(files.get(i - 1), query.sinceMillis())) {
        break;
      }
      if (System.nanoTime() > endNanos && i > 0) {
        return new AuditPage(results, first);
      }
    }
    return new AuditPage(results, 0);
  }

  /** Whether nothing was added to a file since a time; also if it was deleted meanwhile. */
  private static boolean isOlder(Path file, long millis) throws IOException {
    try {
      return Files.getLastModifiedTime(file).toMillis() < millis - CLOCK_MILLIS;
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  private static List<AuditPage.Line> find(Path file, boolean isOpen, AuditQuery query)
      throws IOException {
    try {
      return isOpen ? scan(file, query) : look(file, query);
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  private static AuditPage.Line result(AuditReader.Line line) {
    return new AuditPage.Line(line.seq(), line.atMillis(), line.text());
  }

  /** The newest results, and at least one more than a page may have, if there is one. */
  private static List<AuditPage.Line> scan(Path file, AuditQuery query) throws IOException {
    Deque<AuditPage.Line> newest = new ArrayDeque<>();
    long[] bytes = {0};
    AuditReader.read(
        file,
        0,
        line -> {
          if (line.matches(query)) {
            newest.addFirst(result(line));
            bytes[0] += line.text().length();
            while (newest.size() > query.limit() + 1
                || bytes[0] - newest.getLast().text().length() > MAX_BYTES) {
              bytes[0] -= newest.removeLast().text().length();
            }
          }
          return line.seq() < query.before();
        });
    return List.copyOf(newest);
  }

  /** A file whose index cannot be used is read as a whole, and indexed anew the next time. */
  private static List<AuditPage.Line> look(Path file, AuditQuery query) throws IOException {
    List<Long> offsets;
    try {
      offsets = SegmentIndex.find(file, query.withLimit(query.limit() + 1));
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.WARNING, "the index of {0} cannot be used: {1}", file, e.toString());
      SegmentIndex.discard(file);
      return scan(file, query);
    }
    List<AuditPage.Line> found = new ArrayList<>();
    long[] bytes = {0};
    for (long offset : offsets) {
      if (bytes[0] > MAX_BYTES) {
        break;
      }
      AuditReader.read(
          file,
          offset,
          line -> {
            if (line.matches(query)) {
              found.add(result(line));
              bytes[0] += line.text().length();
            }
            return false;
          });
    }
    return found;
  }
}
