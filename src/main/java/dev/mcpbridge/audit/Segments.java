package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The files of an audit trail, named by the number of their first record. One writer at a time, in
 * this and in other processes. Not thread-safe; every method blocks.
 */
final class Segments {
  static final String EXTENSION = ".jsonl";
  private static final int WINDOW = 64 << 10;

  private final Path folder;
  private FileLock lock;
  private FileChannel current;
  private String name;
  private long size;

  /** Whether a write has failed, and may have left something. */
  private boolean isTorn;

  Segments(Path folder) {
    this.folder = folder;
  }

  /**
   * Where the trail ended.
   *
   * @param seq number of the last record; 0 without one
   * @param hash its hash
   * @param event its event; null without one
   * @param file the name of its file; null without one
   * @param tornBytes length of a last line that was not complete and is now removed
   */
  record End(long seq, String hash, String event, String file, long tornBytes) {}

  /** The files of a folder, the oldest first. */
  static List<Path> in(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches("audit-\\d{12}\\.jsonl"))
          .sorted()
          .toList();
    }
  }

  /**
   * Takes the folder for this process and finds the end of the trail.
   *
   * @throws IOException also if another process writes it, or its last record is damaged
   */
  End open() throws IOException {
    lock();
    long torn = 0;
    List<Path> files = in(folder);
    for (int i = files.size() - 1; i >= 0; i--) {
      Path file = files.get(i);
      try (RandomAccessFile text = new RandomAccessFile(file.toFile(), "rw")) {
        long end = lineFeedBefore(text, text.length()) + 1;
        torn += text.length() - end;
        text.setLength(end);
        if (end > 0) {
          long begin = lineFeedBefore(text, end - 1) + 1;
          byte[] line = new byte[(int) (end - 1 - begin)];
          text.seek(begin);
          text.readFully(line);
          return end(file, line, torn);
        }
      }
      Files.delete(file);
    }
    return new End(0, Chain.START, null, null, torn);
  }

  private void lock() throws IOException {
    FileChannel channel = PrivateFile.open(folder.resolve("lock"));
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw new IOException("another bridge writes the audit trail in " + folder);
    }
  }

  /** Where the last line feed before a place is; -1 without one. */
  private static long lineFeedBefore(RandomAccessFile text, long end) throws IOException {
    byte[] window = new byte[WINDOW];
    for (long to = end; to > 0; to -= Math.min(WINDOW, to)) {
      int length = (int) Math.min(WINDOW, to);
      text.seek(to - length);
      text.readFully(window, 0, length);
      for (int i = length - 1; i >= 0; i--) {
        if (window[i] == '\n') {
          return to - length + i;
        }
      }
    }
    return -1;
  }

  private static End end(Path file, byte[] line, long torn) throws IOException {
    JsonNode record = Json.object();
    try {
      record = Json.tree(JsonSlice.of(line));
    } catch (IOException e) {
      // reported below
    }
    String hash = record.path("hash").asText();
    if (!hash.equals(Chain.hash(line))) {
      throw new IOException(
          "the last record of "
              + file
              + " is damaged; see mcp-bridge audit verify, and move the folder away to begin anew");
    }
    return new End(
        record.path("seq").asLong(),
        hash,
        record.path("event").asText(),
        file.getFileName().toString(),
        torn);
  }

  /** Begins a new file. */
  void begin(long firstSeq) throws IOException {
    String next = name(firstSeq);
    FileChannel last = current;
    current = PrivateFile.open(folder.resolve(next));
    PrivateFile.forceFolder(folder);
    name = next;
    size = 0;
    if (last != null) {
      last.close();
    }
  }

  /** The name of a file, by the number of its first record. */
  static String name(long firstSeq) {
    return String.format(Locale.ROOT, "audit-%012d.jsonl", firstSeq);
  }

  /** The number of the first record of a file. */
  static long firstSeq(Path file) {
    return Long.parseLong(file.getFileName().toString().replaceAll("\\D", ""));
  }

  /** The name of the present file. */
  String name() {
    return name;
  }

  long size() {
    return size;
  }

  /** Appends bytes; after a failure the file has what it had before, if it can be repaired. */
  void write(JsonSlice lines) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(lines.bytes(), lines.from(), lines.length());
    try {
      if (isTorn) {
        current.truncate(size).position(size);
        isTorn = false;
      }
      while (buffer.hasRemaining()) {
        current.write(buffer);
      }
      size += lines.length();
    } catch (IOException | RuntimeException | Error e) {
      isTorn = true;
      current.truncate(size);
      throw e;
    }
  }

  void force() throws IOException {
    current.force(false);
  }

  /** The files to delete, the oldest first; never the present one. */
  List<Path> expired(long keepMillis, long maxBytes) throws IOException {
    List<Path> files = in(folder);
    long bytes = 0;
    for (Path file : files) {
      bytes += Files.size(file) + SegmentIndex.size(file);
    }
    List<Path> expired = new ArrayList<>();
    for (Path file : files.subList(0, Math.max(0, files.size() - 1))) {
      long age = System.currentTimeMillis() - Files.getLastModifiedTime(file).toMillis();
      if (age <= keepMillis && bytes <= maxBytes) {
        break;
      }
      expired.add(file);
      bytes -= Files.size(file) + SegmentIndex.size(file);
    }
    return expired;
  }

  private void closeCurrent() throws IOException {
    if (current != null) {
      current.close();
      current = null;
    }
  }

  void close() throws IOException {
    closeCurrent();
    if (lock != null) {
      lock.acquiredBy().close();
    }
  }
}
