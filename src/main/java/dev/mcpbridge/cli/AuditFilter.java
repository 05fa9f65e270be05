package dev.mcpbridge.cli;

import dev.mcpbridge.model.AuditQuery;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that select records of an audit trail. */
final class AuditFilter {
  private final Map<String, String> members = new TreeMap<>();

  @Option(names = "--principal", paramLabel = "NAME", description = "Who has called or decided.")
  private String principal;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = Time.class,
      description = "From this day or time on (UTC).")
  private Instant since = Instant.EPOCH;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      converter = Time.class,
      description = "Before this day or time (UTC).")
  private Instant until = Instant.ofEpochMilli(Long.MAX_VALUE);

  @Option(names = "--event", paramLabel = "EVENT", description = "Such as call.decision.")
  void event(String event) {
    members.put("event", event);
  }

  @Option(names = "--server", paramLabel = "ID", description = "The server.")
  void server(String server) {
    members.put("server", server);
  }

  @Option(names = "--kind", paramLabel = "KIND", description = "tool, prompt or resource.")
  void kind(String kind) {
    members.put("kind", kind);
  }

  @Option(names = "--name", paramLabel = "NAME", description = "The tool, prompt or resource.")
  void name(String name) {
    members.put("name", name);
  }

  @Option(names = "--call", paramLabel = "ID", description = "One call.")
  void call(String call) {
    members.put("call", call);
  }

  @Option(
      names = "--decision",
      paramLabel = "WORD",
      description = "allow, confirm, isolate, refuse, approve, reject,%nexpire or block.")
  void decision(String decision) {
    members.put("decision", decision);
  }

  @Option(
      names = "--outcome",
      paramLabel = "WORD",
      description = "completed, tool_error, failed, cancelled or%nneeds_confirmation.")
  void outcome(String outcome) {
    members.put("outcome", outcome);
  }

  @Option(names = "--code", paramLabel = "CODE", description = "Of a failure, such as timeout.")
  void code(String code) {
    members.put("code", code);
  }

  /** Reads a day or a time. */
  static final class Time implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
      try {
        return AuditQuery.time(text);
      } catch (DateTimeParseException e) {
        throw new TypeConversionException(
            "expected a day or a time such as 2026-01-31T12:00:00Z, found " + text);
      }
    }
  }

  AuditQuery query() {
    return new AuditQuery(
        members,
        principal,
        since.toEpochMilli(),
        until.toEpochMilli(),
        Long.MAX_VALUE,
        Integer.MAX_VALUE);
  }
}
