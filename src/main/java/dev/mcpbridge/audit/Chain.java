package dev.mcpbridge.audit;

import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;

/**
 * The place of the next record: its number and the hash of the last one. Every line is a JSON
 * object that ends with {@code prev}, the hash of the line before, and {@code hash}, its own:
 * SHA-256 over {@code mcp-bridge/audit/1}, a zero byte, and the line up to the comma before {@code
 * hash}. Not thread-safe.
 */
final class Chain {
  /** The hash before the first record. */
  static final String START = "0".repeat(64);

  private static final String HASH_MEMBER = ",\"hash\":\"";
  private static final int TAIL = HASH_MEMBER.length() + 64 + 2;

  private final String node;
  private long seq;
  private String last;

  /**
   * @param node name of the node; null for a single node
   * @param seq number of the last record; 0 before the first
   * @param last its hash
   */
  Chain(String node, long seq, String last) {
    this.node = node;
    this.seq = seq;
    this.last = last;
  }

  long seq() {
    return seq;
  }

  String last() {
    return last;
  }

  /** A place to which the chain can go back, if a line could not be written. */
  record Place(long seq, String last) {}

  Place place() {
    return new Place(seq, last);
  }

  void goBack(Place place) {
    seq = place.seq();
    last = place.last();
  }

  /** The line of a record, with its line feed. */
  byte[] line(AuditRecord record, ArgumentsRule argumentsRule) {
    seq++;
    JsonWriter out =
        new JsonWriter(768)
            .beginObject()
            .member("seq", seq)
            .member(
                "at",
                Instant.ofEpochMilli(record.atMillis()).truncatedTo(ChronoUnit.MILLIS).toString());
    if (node != null) {
      out.member("node", node);
    }
    out.member("event", record.event()).membersOf(record.members());
    argumentsRule.write(out, record.arguments());
    out.member("prev", last);
    byte[] head = out.toBytes();
    last = hash(head, head.length);
    byte[] tail = (HASH_MEMBER + last + "\"}\n").getBytes(StandardCharsets.US_ASCII);
    byte[] line = new byte[head.length + tail.length];
    System.arraycopy(head, 0, line, 0, head.length);
    System.arraycopy(tail, 0, line, head.length, tail.length);
    return line;
  }

  private static String hash(byte[] line, int length) {
    byte[] head = length == line.length ? line : Arrays.copyOf(line, length);
    return Sha256.of("mcp-bridge/audit/1").end().add(head).hex();
  }

  /**
   * The hash that a line has by its content.
   *
   * @param line without its line feed
   * @return null if it is not a line of a chain
   */
  static String hash(byte[] line) {
    int length = line.length - TAIL;
    if (length <= 0) {
      return null;
    }
    String tail = new String(line, length, TAIL, StandardCharsets.ISO_8859_1);
    return tail.startsWith(HASH_MEMBER) && tail.endsWith("\"}") ? hash(line, length) : null;
  }

  /** What a checkpoint signs. */
  static String signedText(String node, long seq, String prev) {
    return "mcp-bridge/audit/checkpoint/1\n"
        + (node == null ? "" : node)
        + "\n"
        + seq
        + "\n"
        + prev;
  }
}
