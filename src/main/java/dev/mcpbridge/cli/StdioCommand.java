package dev.mcpbridge.cli;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.protocol.Percent;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** For clients that only start processes: MCP over stdin and stdout, in both eras. */
@Command(
    name = "stdio",
    description = "Serve MCP over stdin and stdout, from a configuration or a running bridge.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Without --config the file is found as for serve.",
      "With --url a running bridge answers (its key in MCP_BRIDGE_KEY); without, one runs within",
      "this process for as long as stdin is open. Log lines go to stderr."
    })
final class StdioCommand implements Callable<Integer> {
  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      description = "A running bridge.")
  private URI url;

  @Mixin private ConfigOption configuration;

  @Option(
      names = {"-s", "--server"},
      paramLabel = "SERVER",
      description = "Only this server, with its names untouched. Default: all, qualified.")
  private String server;

  @Override
  public Integer call() throws Exception {
    LogLines.configure("warning");
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false);
    System.setOut(System.err);
    if (url != null) {
      relay(url.toString().replaceAll("/+$", ""), System.getenv("MCP_BRIDGE_KEY"), out);
      return 0;
    }
    BridgeConfig config = configuration.read();
    if (config == null) {
      return Main.FAILED;
    }
    try (OwnBridge bridge = OwnBridge.start(config, "stdio")) {
      relay(bridge.url(), bridge.key(), out);
    }
    return 0;
  }

  private void relay(String base, String key, PrintStream out) throws Exception {
    String path = server == null ? "/mcp" : "/servers/" + Percent.encoded(server) + "/mcp";
    new StdioRelay(URI.create(base + path), key, out).run(System.in);
  }
}
