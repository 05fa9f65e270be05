package dev.mcpbridge.cli;

import dev.mcpbridge.audit.AuditReader;
import dev.mcpbridge.audit.OcsfEvent;
import dev.mcpbridge.model.AuditQuery;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonEscapes;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the records of an audit trail that match. */
@Command(
    name = "search",
    aliases = "export",
    description = {
      "Print the records that match all options, one JSON object a line.",
      "",
      "The exit code is 1 if nothing was found."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "  mcp-bridge audit search FOLDER --principal alice --since 2026-11-01",
      "  mcp-bridge audit search FOLDER --event confirmation --server git",
      "  mcp-bridge audit export FOLDER --format ocsf --since 2026-11-01"
    })
final class AuditSearchCommand implements Callable<Integer> {
  /** The form of the output. */
  enum Format {
    JSONL,
    OCSF
  }

  @Parameters(paramLabel = "FOLDER", description = "The folder of the trail (audit.folder).")
  private Path folder;

  @Mixin private AuditFilter filter;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description =
          "jsonl: the records as they are (default); ocsf: events of the%nOpen Cybersecurity Schema"
              + " Framework 1.3.")
  private Format format = Format.JSONL;

  @Override
  public Integer call() {
    AuditQuery query = filter.query();
    int[] count = {0};
    PrintWriter out =
        new PrintWriter(
            new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8)));
    try {
      AuditReader.read(
          folder,
          line -> {
            if (line.matches(query)) {
              count[0]++;
              out.println(visible(format == Format.OCSF ? OcsfEvent.of(line) : line.text().text()));
            }
          });
    } catch (IOException e) {
      System.err.println(e.getMessage());
      return Main.FAILED;
    } finally {
      out.flush();
    }
    return count[0] == 0 ? Main.FAILED : 0;
  }

  /** With escapes for what a terminal may hide or obey. */
  private static String visible(String json) {
    return JsonEscapes.escaped(
        json, c -> HiddenCharacters.isHidden(c) || JsonEscapes.isLoneSurrogate(c));
  }
}
