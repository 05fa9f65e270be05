package dev.mcpbridge.cli;

import dev.mcpbridge.model.AuditQuery;
import java.time.DateTimeException;
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
  private long since;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      converter = Time.class,
      description = "Before this day or time (UTC).")
  private long until = Long.MAX_VALUE;

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

  @Option(names = "--confirmation", paramLabel = "ID", description = "One confirmation.")
  void confirmation(String confirmation) {
    members.put("confirmation", confirmation);
  }

  @Option(names = "--trace", paramLabel = "ID", description = "The calls of one trace.")
  void trace(String trace) {
    members.put("trace_id", trace);
  }

  @Option(names = "--door", paramLabel = "DOOR", description = "rest, mcp, toolcall or program.")
  void door(String door) {
    members.put("door", door);
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

  /** Reads a day or a time, as milliseconds. */
  static final class Time implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return AuditQuery.time(text).toEpochMilli();
      } catch (DateTimeException | ArithmeticException e) {
        throw new TypeConversionException(
            "expected a day or a time such as 2026-01-31T12:00:00Z, found " + text);
      }
    }
  }

  AuditQuery query() {
    return new AuditQuery(members, principal, since, until, Long.MAX_VALUE, Integer.MAX_VALUE);
  }
}
