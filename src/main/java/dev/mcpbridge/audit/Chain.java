package dev.mcpbridge.audit;

import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;

/**
 * The place of the next record: its number and the hash of the last one. Every line is a JSON
 * object that ends with {@code prev}, the hash of the line before, and {@code hash}, its own:
 * SHA-256 over {@code mcp-bridge/audit/1}, a zero byte, and the line up to the comma before {@code
 * hash}. Not thread-safe.
 */
final class Chain {
  /** The hash before the first record. */
  static final String START = "0".repeat(64);

  /** What is hashed before each line. */
  private static final byte[] PREFIX = "mcp-bridge/audit/1\0".getBytes(StandardCharsets.US_ASCII);

  private static final String HASH_MEMBER = ",\"hash\":\"";
  private static final int TAIL = HASH_MEMBER.length() + 64 + 2;

  private final String node;
  private long seq;
  private byte[] last;
  private final Sha256 digest = new Sha256();
  private long timeMillis;
  private String timeText = Instant.EPOCH.toString();

  /**
   * @param node name of the node; null for a single node
   * @param seq number of the last record; 0 before the first
   * @param last its hash, in hexadecimal digits
   */
  Chain(String node, long seq, String last) {
    this.node = node;
    this.seq = seq;
    this.last = HexFormat.of().parseHex(last);
  }

  long seq() {
    return seq;
  }

  String last() {
    return HexFormat.of().formatHex(last);
  }

  /** A place to which the chain can go back, if a line could not be written. */
  record Place(long seq, byte[] last) {}

  Place place() {
    return new Place(seq, last);
  }

  void goBack(Place place) {
    seq = place.seq();
    last = place.last();
  }

  /** Appends the line of a record, with its line feed. */
  void write(JsonWriter out, AuditRecord record, ArgumentsRule argumentsRule) {
    seq++;
    int start = out.size();
    out.beginObject().member("seq", seq).member("at", time(record.atMillis()));
    if (node != null) {
      out.member("node", node);
    }
    out.member("event", record.event());
    out.members(record.members());
    argumentsRule.write(out, record.arguments());
    out.hex("prev", "", last);
    last = digest.add(PREFIX).add(out.from(start)).bytes();
    out.hex("hash", "", last).endObject().endLine();
  }

  /** The records of a busy millisecond share their text. */
  private String time(long millis) {
    if (millis != timeMillis) {
      timeMillis = millis;
      timeText = Instant.ofEpochMilli(millis).toString();
    }
    return timeText;
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
    return tail.startsWith(HASH_MEMBER) && tail.endsWith("\"}")
        ? new Sha256().add(PREFIX).add(new JsonSlice(line, 0, length)).hex()
        : null;
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
