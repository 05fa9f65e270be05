package dev.mcpbridge.cli;

import dev.mcpbridge.cli.agent.HttpUrl;
import dev.mcpbridge.config.BridgeConfig;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** MCP over stdin and stdout, in both eras, for clients that can only start processes. */
@Command(
    name = "stdio",
    description = "Serve MCP over stdin and stdout, from a configuration or a running bridge.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Without --server and --profile all servers are served, with qualified names.",
      "Without --url a bridge runs in this process until stdin is closed.",
      "The log is written to stderr."
    })
final class StdioCommand implements Callable<Integer> {
  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      converter = HttpUrl.class,
      description =
          "A running bridge. Its API key is read from%nMCP_BRIDGE_KEY in the environment; without one, a%nlogin is used.")
  private URI url;

  @Mixin private ConfigOption configuration;

  @ArgGroup private EndpointChoice endpoint = new EndpointChoice();

  @Override
  public Integer call() throws Exception {
    LogLineFormatter.configure(LogLineFormatter.Threshold.WARNING);
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false);
    System.setOut(System.err);
    if (url != null) {
      String base = BridgeClient.base(url);
      return relay(base, BridgeClient.credential(base), out);
    }
    BridgeConfig config = configuration.read();
    try (EmbeddedBridge bridge = EmbeddedBridge.start(config, "stdio")) {
      return relay(bridge.url(), bridge::key, out);
    }
  }

  private int relay(String base, Supplier<String> credential, PrintStream out) throws IOException {
    StdioRelay relay = new StdioRelay(URI.create(base), endpoint.path(), credential, out);
    return relay.run(System.in) ? 0 : Main.FAILED;
  }
}
