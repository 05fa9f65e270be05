package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.PercentEncoding;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists tools of a running bridge. */
@Command(
    name = "tools",
    description = {
      "List the tools of a running bridge.",
      "",
      "Each tool is listed with its risk level and the source of that level: a rule",
      "for the tool, the server's level, the default, the tool's annotation, its HTTP",
      "method, an access rule, or none."
    },
    mixinStandardHelpOptions = true)
final class ToolsCommand implements Callable<Integer> {
  @Mixin private BridgeClient bridge;

  @Parameters(arity = "0..1", paramLabel = "WORDS", description = "List only matching tools.")
  private String words;

  @Option(names = "--json", description = "Print the response as JSON.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    String query = words == null ? "" : "?q=" + PercentEncoding.encoded(words);
    BridgeHttp.Response response = bridge.get("/tools" + query);
    if (!response.ok() || json) {
      return ResponsePrinter.print(response);
    }
    for (JsonNode tool : response.body().path("tools")) {
      String description = tool.path("description").asText("").lines().findFirst().orElse("");
      System.out.printf(
          "%-40s %-14s %s%n",
          tool.path("server_id").asText()
              + " "
              + HiddenCharacters.escaped(tool.path("name").asText()),
          tool.path("risk_level").asText() + " (" + tool.path("risk_reason").asText() + ")",
          HiddenCharacters.escaped(description));
      for (JsonNode warning : tool.path("warnings")) {
        System.out.println("  warning: " + warning.asText());
      }
    }
    return 0;
  }
}
