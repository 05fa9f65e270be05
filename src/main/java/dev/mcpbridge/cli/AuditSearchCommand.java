package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.audit.AuditReader;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonEscapes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Prints the records of an audit trail that fit. */
@Command(
    name = "search",
    description = {
      "Print the records that fit all options, one JSON object a line.",
      "",
      "The outcome of a call is printed with its decision. The exit code is 1 if",
      "nothing was found."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "  mcp-bridge audit search FOLDER --principal alice --since 2026-11-01",
      "  mcp-bridge audit search FOLDER --event confirmation --server git"
    })
final class AuditSearchCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FOLDER", description = "The folder of the trail (audit.folder).")
  private Path folder;

  @Option(names = "--event", paramLabel = "EVENT", description = "Such as call.decision.")
  private String event;

  @Option(names = "--principal", paramLabel = "NAME", description = "Who has called or decided.")
  private String principal;

  @Option(names = "--server", paramLabel = "ID", description = "The server.")
  private String server;

  @Option(names = "--name", paramLabel = "NAME", description = "The tool, prompt or resource.")
  private String name;

  @Option(names = "--call", paramLabel = "ID", description = "One call.")
  private String call;

  @Option(
      names = "--decision",
      paramLabel = "WORD",
      description = "allow, confirm, isolate, refuse, approve, reject%nor block.")
  private String decision;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = Time.class,
      description = "From this day or time on (UTC).")
  private Instant since = Instant.MIN;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      converter = Time.class,
      description = "Before this day or time (UTC).")
  private Instant until = Instant.MAX;

  private final Set<String> found = new HashSet<>();
  private int count;

  /** Reads a day or a time. */
  static final class Time implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
      try {
        return text.length() == 10
            ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
            : Instant.parse(text);
      } catch (DateTimeParseException e) {
        throw new TypeConversionException(
            "expected a day or a time such as 2026-01-31T12:00:00Z, found " + text);
      }
    }
  }

  @Override
  public Integer call() {
    Map<String, String> wanted = new LinkedHashMap<>();
    wanted.put("event", event);
    wanted.put("server", server);
    wanted.put("name", name);
    wanted.put("call", call);
    wanted.put("decision", decision);
    wanted.values().removeIf(value -> value == null);
    try {
      AuditReader.read(folder, record -> print(record, wanted));
    } catch (IOException e) {
      System.err.println(e.getMessage());
      return Main.FAILED;
    }
    return count == 0 ? Main.FAILED : 0;
  }

  private void print(JsonNode record, Map<String, String> wanted) {
    String id = record.path("call").asText();
    boolean isOutcome = record.path("event").asText().equals("call.outcome");
    boolean fits = fits(record, wanted) || isOutcome && event == null && found.remove(id);
    if (fits) {
      count++;
      System.out.println(visible(record.toString()));
      if (!isOutcome && !id.isEmpty()) {
        found.add(id);
      }
    }
  }

  /** With escapes for what a terminal may hide or obey. */
  private static String visible(String json) {
    return JsonEscapes.escaped(
        json, c -> HiddenCharacters.isHidden(c) || JsonEscapes.isLoneSurrogate(c));
  }

  private boolean fits(JsonNode record, Map<String, String> wanted) {
    Instant at = Instant.parse(record.path("at").asText("1970-01-01T00:00:00Z"));
    boolean isBy =
        principal == null
            || record.path("principal").asText().equals(principal)
            || record.path("approver").asText().equals(principal);
    return isBy
        && !at.isBefore(since)
        && at.isBefore(until)
        && wanted.entrySet().stream()
            .allMatch(each -> record.path(each.getKey()).asText().equals(each.getValue()));
  }
}
