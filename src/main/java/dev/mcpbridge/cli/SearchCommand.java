package dev.mcpbridge.cli;

import dev.mcpbridge.cli.registry.RegistryServer;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Finds servers in a registry. */
@Command(
    name = "search",
    description = "Find MCP servers in a registry.",
    mixinStandardHelpOptions = true)
final class SearchCommand implements Callable<Integer> {
  private static final int MAX_DESCRIPTION = 200;

  @Spec private CommandSpec spec;
  @Mixin private RegistryOption source;

  @Parameters(paramLabel = "WORDS", description = "Part of a name.")
  private String words;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "NUMBER",
      defaultValue = "20",
      description = "At most so many (default: ${DEFAULT-VALUE}).")
  private int limit;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    List<RegistryServer> found = source.registry().search(words, Math.max(1, Math.min(limit, 100)));
    for (RegistryServer server : found) {
      out.println(server.name() + " " + server.version() + " " + server.kinds() + mark(server));
      out.println("    " + shortened(server.description()));
    }
    out.flush();
    if (found.isEmpty()) {
      spec.commandLine().getErr().println("Nothing was found.");
    }
    return found.isEmpty() ? Main.FAILED : 0;
  }

  private static String mark(RegistryServer server) {
    return server.status().isEmpty() || server.status().equals("active")
        ? ""
        : " (" + server.status() + ")";
  }

  private static String shortened(String text) {
    return text.length() > MAX_DESCRIPTION ? text.substring(0, MAX_DESCRIPTION) + "…" : text;
  }
}
