package dev.mcpbridge.model;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;

/**
 * What is searched in an audit trail.
 *
 * @param members members of a record and the values that they must have, such as {@code server}
 * @param principal who has called or decided; null for all
 * @param sinceMillis time of the oldest record, by the wall clock
 * @param untilMillis time after the newest record
 * @param before a record's number, which all results are below
 * @param limit how many records are wanted
 */
public record AuditQuery(
    Map<String, String> members,
    String principal,
    long sinceMillis,
    long untilMillis,
    long before,
    int limit) {

  /** The members that can be searched. */
  public static final List<String> MEMBERS =
      List.of(
          "event",
          "server",
          "kind",
          "name",
          "call",
          "confirmation",
          "trace_id",
          "door",
          "decision",
          "outcome",
          "code");

  /** The members that name who has called or decided. */
  public static final List<String> PRINCIPALS = List.of("principal", "approver");

  /**
   * Reads a day or a time (UTC).
   *
   * @throws DateTimeParseException if it is neither
   */
  public static Instant time(String text) {
    return text.length() == 10
        ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
        : Instant.parse(text);
  }

  /** This query for another number of records. */
  public AuditQuery withLimit(int other) {
    return new AuditQuery(members, principal, sinceMillis, untilMillis, before, other);
  }

  /** This query for the records below another number. */
  public AuditQuery withBefore(long other) {
    return new AuditQuery(members, principal, sinceMillis, untilMillis, other, limit);
  }
}
