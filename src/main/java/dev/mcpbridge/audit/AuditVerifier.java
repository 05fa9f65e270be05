package dev.mcpbridge.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Verifies the files of an audit trail: every hash, the links between records and files, their
 * numbers, and the signatures of checkpoints. Not thread-safe; blocks.
 */
public final class AuditVerifier {
  private static final int MAX_LINE = 8 << 20;

  private final String publicKey;
  private final Head head;

  /** Files that were deleted, as a checkpoint says; and as records say that are not signed yet. */
  private final Set<String> deleted = new HashSet<>();

  private final Set<String> unsignedDeleted = new HashSet<>();
  private String before;
  private final List<String> notes = new ArrayList<>();
  private String key;
  private String prev;
  private long seq = -1;
  private long first = -1;
  private long checkpoints;
  private long sinceCheckpoint;

  /**
   * What was found.
   *
   * @param error what is wrong first, and where; null if nothing is
   * @param notes what is not wrong, but should be known
   * @param unsigned records after the last checkpoint
   */
  public record Report(
      String error, long first, long last, long checkpoints, long unsigned, List<String> notes) {}

  /** What is wrong with a record. */
  private static final class Damage extends Exception {
    private static final long serialVersionUID = 1L;

    Damage(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * @param publicKey the public key of the trail, as in {@code audit.pub}; null to trust the one
   *     that the trail names
   */
  private AuditVerifier(String publicKey, Head head) {
    this.publicKey = publicKey;
    this.head = head;
  }

  /** Reads a public key in PEM. */
  public static String publicKey(Path file) throws IOException {
    return AuditKey.publicKey(file);
  }

  /**
   * Verifies a folder.
   *
   * @param publicKey the public key of the trail, as in {@code audit.pub}; null to trust the one
   *     that the trail names
   * @param keptHead an {@code audit.head} that was kept elsewhere; null for that of the folder
   * @throws IOException if it cannot be read or has no trail
   */
  public static Report verify(Path folder, String publicKey, Path keptHead) throws IOException {
    List<Path> files = Segments.in(folder);
    if (files.isEmpty()) {
      throw new IOException(folder + " has no audit trail");
    }
    Head head = keptHead == null ? Head.in(folder) : Head.read(keptHead);
    return new AuditVerifier(publicKey, head).verify(files);
  }

  private Report verify(List<Path> files) throws IOException {
    String error = null;
    for (int i = 0; i < files.size() && error == null; i++) {
      error = verify(files.get(i), i == files.size() - 1);
    }
    if (error == null) {
      error = missing();
    }
    if (first > 1 && error == null) {
      notes.add("the trail begins with record " + first + ": it says that older files expired");
    }
    if (publicKey == null) {
      notes.add("the public key is the one that the trail names; compare it with --key");
    }
    return new Report(error, first, seq, checkpoints, sinceCheckpoint, List.copyOf(notes));
  }

  /** What is missing at the begin or at the end; null if nothing is. */
  private String missing() {
    if (head == null) {
      return "audit.head is missing";
    }
    if (!head.isSignedBy(key)) {
      return "the signature of audit.head is not by the key of the trail";
    }
    if (seq < head.seq()) {
      return "records " + (seq + 1) + " to " + head.seq() + " are missing at the end";
    }
    if (first > head.seq()) {
      return "the checkpoint, record "
          + head.seq()
          + ", is older than the first record, "
          + first
          + ", so nothing can be compared with it";
    }
    if (first > 1 && !deleted.contains(before)) {
      return "the file before record " + first + " is missing, and did not expire: " + before;
    }
    return null;
  }

  private String verify(Path file, boolean isLast) throws IOException {
    String name = file.getFileName().toString();
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      long line = 0;
      for (byte[] text = Lines.next(in, MAX_LINE); text != null; text = Lines.next(in, MAX_LINE)) {
        line++;
        try {
          if (text.length > MAX_LINE) {
            throw new Damage("the line is too long");
          }
          boolean isComplete = text.length > 0 && text[text.length - 1] == '\n';
          if (!isComplete && isLast) {
            notes.add(name + " ends with a line that is not complete, as after a crash");
            return null;
          }
          verify(name, line, trimmed(text, isComplete));
        } catch (Damage damage) {
          String number = seq < 0 ? "" : ", after record " + seq;
          return name + " line " + line + number + ": " + damage.getMessage();
        }
      }
      return null;
    }
  }

  private static byte[] trimmed(byte[] line, boolean isComplete) throws Damage {
    if (!isComplete) {
      throw new Damage("the line is not complete");
    }
    return Arrays.copyOf(line, line.length - 1);
  }

  private void verify(String file, long line, byte[] text) throws Damage {
    JsonNode record = parsed(text);
    String hash = Chain.hash(text);
    if (hash == null || !hash.equals(record.path("hash").asText())) {
      throw new Damage("the record was changed: its hash is another one");
    }
    long number = record.path("seq").asLong(-1);
    if (seq >= 0 && number != seq + 1) {
      throw new Damage("record " + (seq + 1) + " is missing; this one is " + number);
    }
    if (seq < 0 && number == 1 && !record.path("prev").asText().equals(Chain.START)
        || seq >= 0 && !record.path("prev").asText().equals(prev)) {
      throw new Damage("the record does not follow the one before it");
    }
    if (head != null && number == head.seq() && !record.path("prev").asText().equals(head.prev())) {
      throw new Damage("the record is not the checkpoint that was kept beside the files");
    }
    if (line == 1) {
      segment(file, number, record);
    }
    switch (record.path("event").asText()) {
      case "retention" -> unsignedDeleted.add(record.path("deleted").asText());
      case "gap" ->
          notes.add(
              "record " + number + " says that " + record.path("lost") + " records were lost");
      default -> {
        // nothing about the trail itself
      }
    }
    if (record.path("event").asText().equals("checkpoint")) {
      checkpoint(number, record);
    } else {
      sinceCheckpoint++;
    }
    first = first < 0 ? number : first;
    seq = number;
    prev = hash;
  }

  private static JsonNode parsed(byte[] text) throws Damage {
    try {
      return Json.tree(JsonSlice.of(text));
    } catch (IOException | NumberFormatException e) {
      throw new Damage("the line is not JSON");
    }
  }

  private void segment(String file, long number, JsonNode record) throws Damage {
    if (!file.equals(Segments.name(number))) {
      throw new Damage("the file has another name than its first record says: " + number);
    }
    if (!record.path("event").asText().equals("segment")) {
      throw new Damage("the file does not begin with a record 'segment'");
    }
    String named = record.path("public_key").asText();
    String expected = publicKey != null ? publicKey : key;
    if (expected != null && !expected.equals(named)) {
      throw new Damage("the file names another public key");
    }
    key = named;
    if (first < 0) {
      before = record.path("continues").asText();
    }
    if (record.path("closed").asText().equals("false") && record.has("continues")) {
      notes.add(
          record.path("continues").asText()
              + " ends without a checkpoint: the bridge was ended by force, or could not write"
              + (record.path("torn_bytes").asLong() > 0 ? " while it wrote" : ""));
    }
  }

  private void checkpoint(long number, JsonNode record) throws Damage {
    String node = record.path("node").asText(null);
    String text = Chain.signedText(node, number, record.path("prev").asText());
    if (key == null || !AuditKey.isSigned(key, text, record.path("signature").asText())) {
      throw new Damage("the signature of the checkpoint is not by the key of the trail");
    }
    checkpoints++;
    deleted.addAll(unsignedDeleted);
    unsignedDeleted.clear();
    sinceCheckpoint = 0;
  }
}
