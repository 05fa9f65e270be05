package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.protocol.Json;
import java.io.Console;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Commands about the definitions of a running bridge's servers: what was approved, what differs.
 */
@Command(
    name = "pins",
    description = "Show, approve or block the definitions of servers.",
    mixinStandardHelpOptions = true,
    subcommands = {
      PinsCommand.Status.class,
      PinsCommand.Diff.class,
      PinsCommand.Approve.class,
      PinsCommand.Block.class
    })
final class PinsCommand implements Runnable {
  private static final String UNDECIDED = "changed,new";

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "Missing subcommand; use: mcp-bridge pins status");
  }

  private static String path(String server) {
    return "/servers/" + server + "/pins";
  }

  /** Lists what is not approved. */
  @Command(
      name = "status",
      description = {
        "Tell which definitions are approved, changed, new, blocked or missing.",
        "",
        "The exit code is 1 if a definition is changed or new."
      },
      mixinStandardHelpOptions = true)
  static final class Status implements Callable<Integer> {
    @Mixin private BridgeClient bridge;

    @Parameters(arity = "0..1", paramLabel = "SERVER", description = "Only this server.")
    private String server;

    @Override
    public Integer call() throws Exception {
      BridgeHttp.Response all = bridge.get("/pins");
      if (!all.ok()) {
        return ResponsePrinter.print(all);
      }
      boolean isOpen = false;
      for (JsonNode each : all.body().path("servers")) {
        String name = each.path("server").asText();
        if (server == null || server.equals(name)) {
          isOpen |=
              print(each, bridge.get(path(name) + "?state=" + UNDECIDED + ",blocked,missing"));
        }
      }
      return isOpen ? Main.FAILED : 0;
    }

    private static boolean print(JsonNode summary, BridgeHttp.Response details) {
      String states =
          summary.path("states").properties().stream()
              .map(state -> state.getValue().asText() + " " + state.getKey())
              .collect(Collectors.joining(", "));
      System.out.printf(
          "%s (changed: %s, new: %s): %s%n",
          summary.path("server").asText(),
          summary.path("changed").asText(),
          summary.path("new").asText(),
          states.isEmpty() ? "nothing defined" : states);
      for (JsonNode definition : details.body().path("definitions")) {
        System.out.println("  " + DefinitionPrinter.title(definition));
      }
      boolean isChanged =
          summary.path("states").has("changed") && !summary.path("changed").asText().equals("off");
      return isChanged || summary.path("states").has("new");
    }
  }

  /** Shows what differs. */
  @Command(
      name = "diff",
      description = "Show what changed or new definitions say, and what the approved ones said.",
      mixinStandardHelpOptions = true)
  static final class Diff implements Callable<Integer> {
    @Mixin private BridgeClient bridge;
    @Mixin private Selection selection;

    @Override
    public Integer call() throws Exception {
      BridgeHttp.Response response =
          bridge.get(path(selection.server) + "?state=" + UNDECIDED + ",blocked");
      if (!response.ok()) {
        return ResponsePrinter.print(response);
      }
      List<JsonNode> chosen =
          response
              .body()
              .path("definitions")
              .valueStream()
              .filter(selection.isAll() ? each -> true : selection::names)
              .toList();
      chosen.forEach(DefinitionPrinter::print);
      if (chosen.isEmpty()) {
        System.out.println("nothing differs from what was approved");
      }
      return 0;
    }
  }

  /** What a command is about. */
  static final class Selection {
    @Parameters(index = "0", paramLabel = "SERVER", description = "The server.")
    private String server;

    @Parameters(
        index = "1..*",
        paramLabel = "NAME",
        description = "Names of definitions; default: all that differ.")
    private List<String> names = List.of();

    @Option(
        names = "--kind",
        paramLabel = "KIND",
        defaultValue = "tool",
        description = "Kind of the names: tool (default), prompt, template%nor instructions.")
    private String kind;

    boolean isAll() {
      return names.isEmpty() && !kind.equals("instructions");
    }

    boolean names(JsonNode definition) {
      return definition.path("kind").asText().equals(kind)
          && (kind.equals("instructions") || names.contains(definition.path("name").asText()));
    }
  }

  /** Decides about definitions. */
  abstract static class Decision implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private BridgeClient bridge;
    @Mixin private Selection selection;

    @Option(
        names = "--digest",
        paramLabel = "DIGEST",
        description =
            "The digest of a definition that was shown to you;%nrepeat it for several. Without it the"
                + " definitions are%nshown and you are asked.")
    private List<String> digests = List.of();

    private final String decision;
    private final String past;
    private final String states;

    Decision(String decision, String past, String states) {
      this.decision = decision;
      this.past = past;
      this.states = states;
    }

    @Override
    public Integer call() throws Exception {
      boolean isUnnamed = selection.isAll() && digests.isEmpty();
      BridgeHttp.Response response =
          bridge.get(path(selection.server) + "?state=" + (isUnnamed ? UNDECIDED : states));
      if (!response.ok()) {
        return ResponsePrinter.print(response);
      }
      List<JsonNode> chosen =
          response.body().path("definitions").valueStream().filter(chosen()).toList();
      List<String> found = chosen.stream().map(each -> each.path("digest").asText()).toList();
      if (chosen.isEmpty() || !found.containsAll(digests)) {
        System.err.println("there is no such definition to " + decision);
        return Main.FAILED;
      }
      if (digests.isEmpty() && !isAgreed(chosen)) {
        return Main.FAILED;
      }
      BridgeHttp.Response decided = bridge.post(path(selection.server), body(chosen));
      if (!decided.ok()) {
        return ResponsePrinter.print(decided);
      }
      chosen.forEach(
          each ->
              System.out.println(
                  DefinitionPrinter.oneLine(
                      past + " " + each.path("kind").asText() + " " + each.path("name").asText())));
      return 0;
    }

    private Predicate<JsonNode> chosen() {
      Predicate<JsonNode> named = selection.isAll() ? each -> true : selection::names;
      return digests.isEmpty()
          ? named
          : named.and(each -> digests.contains(each.path("digest").asText()));
    }

    private boolean isAgreed(List<JsonNode> chosen) {
      Console console = System.console();
      if (console == null) {
        throw new ParameterException(
            spec.commandLine(),
            "Without a terminal, name what was shown to you with --digest (see mcp-bridge pins"
                + " diff)");
      }
      chosen.forEach(DefinitionPrinter::print);
      String answer =
          console.readLine("%s %d of %s? [y/N] ", decision, chosen.size(), selection.server);
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).equals("y");
    }

    private String body(List<JsonNode> chosen) {
      ArrayNode decisions = Json.mapper().createArrayNode();
      for (JsonNode each : chosen) {
        decisions
            .addObject()
            .put("kind", each.path("kind").asText())
            .put("name", each.path("name").asText())
            .put("digest", each.path("digest").asText())
            .put("decision", decision);
      }
      ObjectNode body = Json.object();
      body.set("decisions", decisions);
      return body.toString();
    }
  }

  /** Approves definitions. */
  @Command(
      name = "approve",
      description = "Approve changed, new or blocked definitions as they are now.",
      mixinStandardHelpOptions = true)
  static final class Approve extends Decision {
    Approve() {
      super("approve", "approved", UNDECIDED + ",blocked");
    }
  }

  /** Blocks definitions. */
  @Command(
      name = "block",
      description = "Block definitions: they are not offered, whatever they become.",
      mixinStandardHelpOptions = true)
  static final class Block extends Decision {
    Block() {
      super("block", "blocked", UNDECIDED + ",approved");
    }
  }
}
