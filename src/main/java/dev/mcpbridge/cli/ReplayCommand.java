package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.access.DecisionReplay;
import dev.mcpbridge.access.DecisionReplay.Result;
import dev.mcpbridge.access.DecisionReplay.Verdict;
import dev.mcpbridge.audit.AuditReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Judges what a bridge has decided by the access rules of another file. */
@Command(
    name = "replay",
    description = {
      "Judge the calls of an audit trail by the access rules of a configuration.",
      "",
      "Shows which calls these rules would refuse that were allowed, and the other",
      "way round. The exit code is 1 if there are some. Conditions on arguments",
      "need a trail with audit.arguments: full."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "  mcp-bridge access replay /var/log/mcp-bridge/audit -c new.json"})
final class ReplayCommand implements Callable<Integer> {
  private static final int MAX_LINES = 50;

  @Mixin private ConfigOption configuration;

  @Parameters(paramLabel = "FOLDER", description = "The folder of the trail (audit.folder).")
  private Path folder;

  private final Map<Verdict, Integer> counts = new EnumMap<>(Verdict.class);

  /** How often each difference occurs. */
  private final Map<String, Integer> differences = new TreeMap<>();

  @Override
  public Integer call() {
    DecisionReplay replay = new DecisionReplay(configuration.read().access());
    try {
      AuditReader.read(
          folder,
          line -> replay.judge(line.record()).ifPresent(result -> count(line.record(), result)));
    } catch (IOException e) {
      System.err.println(e.getMessage());
      return Main.FAILED;
    }
    System.out.printf(
        "%d calls: %d the same, %d now refused, %d now allowed, %d undecided%n",
        counts.values().stream().mapToInt(Integer::intValue).sum(),
        count(Verdict.SAME),
        count(Verdict.NOW_REFUSED),
        count(Verdict.NOW_ALLOWED),
        count(Verdict.UNDECIDED));
    differences.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(MAX_LINES)
        .forEach(
            entry -> System.out.println("  " + entry.getKey() + ", " + entry.getValue() + "×"));
    return count(Verdict.NOW_REFUSED) + count(Verdict.NOW_ALLOWED) == 0 ? 0 : Main.FAILED;
  }

  private int count(Verdict verdict) {
    return counts.getOrDefault(verdict, 0);
  }

  private void count(JsonNode record, Result result) {
    counts.merge(result.verdict(), 1, Integer::sum);
    if (result.verdict() == Verdict.SAME) {
      return;
    }
    String what =
        switch (result.verdict()) {
          case NOW_REFUSED -> "now refused by " + result.rule();
          case NOW_ALLOWED -> "now allowed by " + result.rule();
          default -> "undecided";
        };
    String call =
        record.path("principal").asText()
            + " "
            + record.path("server").asText()
            + "/"
            + record.path("name").asText();
    differences.merge(DefinitionPrinter.oneLine(what + ": " + call), 1, Integer::sum);
  }
}
