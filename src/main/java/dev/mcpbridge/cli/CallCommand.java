package dev.mcpbridge.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.PercentEncoding;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Calls a tool of a running bridge. */
@Command(
    name = "call",
    description = "Call a tool of a running bridge.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Values that are valid JSON (a number, true, [1,2], {\"a\":1}) are sent as JSON,",
      "all others as text.",
      "  mcp-bridge call git git_log repository=mcp-bridge max_count=3",
      "  echo '{\"repository\": \"mcp-bridge\"}' | mcp-bridge call git git_status --json -"
    })
final class CallCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private BridgeClient bridge;

  @Parameters(index = "0", paramLabel = "SERVER", description = "The server's id.")
  private String server;

  @Parameters(index = "1", paramLabel = "TOOL", description = "The tool's name.")
  private String tool;

  @Parameters(index = "2..*", paramLabel = "KEY=VALUE", description = "Arguments.")
  private List<String> pairs = List.of();

  @Option(
      names = "--json",
      paramLabel = "JSON",
      description = "All arguments as one JSON object; - reads it from stdin.")
  private String json;

  @Override
  public Integer call() throws Exception {
    String path =
        "/servers/" + PercentEncoding.encoded(server) + "/tools/" + PercentEncoding.encoded(tool);
    return ResponsePrinter.print(bridge.post(path, arguments()));
  }

  private String arguments() throws Exception {
    if (json != null) {
      return json.equals("-") ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8) : json;
    }
    ObjectNode arguments = Json.object();
    for (String pair : pairs) {
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw new ParameterException(spec.commandLine(), "Expected KEY=VALUE, found " + pair);
      }
      arguments.set(pair.substring(0, equals), value(pair.substring(equals + 1)));
    }
    return arguments.toString();
  }

  private static JsonNode value(String text) {
    try {
      JsonNode node = Json.tree(text);
      return node.isMissingNode() ? TextNode.valueOf(text) : node;
    } catch (JsonProcessingException e) {
      return TextNode.valueOf(text);
    }
  }
}
