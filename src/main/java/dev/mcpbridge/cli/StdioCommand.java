package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.config.BridgeConfig;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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
    String key = ApiKeys.generate();
    Bridge bridge = embedded(key);
    if (bridge == null) {
      return Main.FAILED;
    }
    try {
      relay(bridge.url(), key, out);
    } finally {
      bridge.close(Duration.ZERO).await(30, TimeUnit.SECONDS);
    }
    return 0;
  }

  /** A bridge that only this process can use; null where it cannot start. */
  private Bridge embedded(String key) throws Exception {
    BridgeConfig config = configuration.read();
    if (config == null) {
      return null;
    }
    AuthConfig.Key own =
        new AuthConfig.Key("stdio", ApiKeys.fingerprint(key), Set.of("read", "call"));
    return Bridge.start(
            config.withHttp(config.http().privately()).withAuth(new AuthConfig(List.of(own))))
        .await(60, TimeUnit.SECONDS);
  }

  private void relay(String base, String key, PrintStream out) throws Exception {
    String path = server == null ? "/mcp" : "/servers/" + BridgeClient.segment(server) + "/mcp";
    new StdioRelay(URI.create(base + path), key, out).run(System.in);
  }
}
