package dev.mcpbridge.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Commands about the access rules of a running bridge. */
@Command(
    name = "access",
    description = "Explain the access rules of a running bridge, and try other ones.",
    mixinStandardHelpOptions = true,
    subcommands = {AccessCommand.Explain.class, ReplayCommand.class})
final class AccessCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "Missing subcommand; use: mcp-bridge access explain");
  }

  /** Explains one decision. */
  @Command(
      name = "explain",
      description = {
        "Tell whether a caller may make a call, and what each rule contributes.",
        "",
        "Without --as it is about the key or token in MCP_BRIDGE_KEY; about others",
        "only with the scope admin. The exit code is 0 if the call is allowed."
      },
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "  mcp-bridge access explain git/git_push '{\"force\": true}'",
        "  mcp-bridge access explain --as 'corp|alice' --roles analyst git/git_log"
      })
  static final class Explain implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private BridgeClient bridge;

    @Parameters(
        index = "0",
        paramLabel = "SERVER/NAME",
        description = "The server, and the name of its tool or prompt, or the URI of a resource.")
    private String target;

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "JSON",
        description = "The arguments of the call.")
    private String arguments;

    @Option(
        names = "--as",
        paramLabel = "NAME",
        description = "Name of an API key, or ISSUER|SUBJECT of a token.")
    private String as;

    @Option(names = "--client", paramLabel = "ID", description = "OAuth client of the token.")
    private String client;

    @Option(
        names = "--roles",
        paramLabel = "ROLES",
        description = "Roles, separated by commas. Default for a key: those that it has.")
    private String roles;

    @Option(
        names = "--scopes",
        paramLabel = "SCOPES",
        description = "Scopes, separated by commas. Default for a key: those that it has.")
    private String scopes;

    @Option(
        names = "--kind",
        paramLabel = "KIND",
        defaultValue = "tool",
        description = "tool (default), resource or prompt.")
    private String kind;

    @Option(names = "--json", description = "Print the response as JSON.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
      BridgeHttp.Response response = bridge.post("/access/explain", question().toString());
      if (!response.ok()) {
        return ResponsePrinter.print(response);
      }
      JsonNode explanation = response.body();
      if (json) {
        System.out.println(explanation.toPrettyString());
      } else {
        print(explanation);
      }
      return explanation.path("decision").asText().equals("allow") ? 0 : Main.FAILED;
    }

    private ObjectNode question() {
      int slash = target.indexOf('/');
      if (slash < 1) {
        throw new ParameterException(spec.commandLine(), "Expected SERVER/NAME, found " + target);
      }
      ObjectNode question = Json.object();
      question.put("server", target.substring(0, slash)).put(kind, target.substring(slash + 1));
      if (arguments != null) {
        question.set("arguments", parsed(arguments));
      }
      if (as != null) {
        question.put("as", as);
      }
      if (client != null) {
        question.put("client", client);
      }
      if (roles != null) {
        List.of(roles.split(",")).forEach(question.putArray("roles")::add);
      }
      if (scopes != null) {
        List.of(scopes.split(",")).forEach(question.putArray("scopes")::add);
      }
      return question;
    }

    private JsonNode parsed(String text) {
      try {
        return Json.exactTree(text);
      } catch (JsonProcessingException e) {
        throw new ParameterException(
            spec.commandLine(), "The arguments are not JSON: " + e.getOriginalMessage());
      }
    }

    private static void print(JsonNode explanation) {
      StringBuilder first =
          new StringBuilder(explanation.path("decision").asText())
              .append(": ")
              .append(explanation.path("principal").asText())
              .append(", rule ")
              .append(explanation.path("rule").asText())
              .append(explanation.path("listed").asBoolean() ? ", listed" : ", not listed");
      int risk = explanation.path("risk_level_at_least").asInt(1);
      if (risk > 1) {
        first.append(", risk level at least ").append(risk);
      }
      explanation.path("needs").forEach(scope -> first.append(", needs ").append(scope.asText()));
      System.out.println(HiddenCharacters.escaped(first.toString()));
      for (JsonNode rule : explanation.path("rules")) {
        boolean applies = rule.path("applies").asBoolean();
        System.out.printf(
            "  %-30s %-6s %s%n",
            rule.path("name").asText(),
            rule.path("effect").asText(),
            applies ? "applies" : HiddenCharacters.escaped(rule.path("reason").asText()));
      }
    }
  }
}
