package dev.mcpbridge.cli;

import dev.mcpbridge.agent.AgentLimits;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.cli.agent.AgentProgram;
import dev.mcpbridge.cli.agent.HttpUrl;
import dev.mcpbridge.cli.agent.ModelOptions;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A model that has the tools of a bridge, at the terminal or for a script. */
@Command(
    name = "agent",
    description = "Talk to a model that has the tools of a bridge.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "  mcp-bridge agent --provider replay",
      "  GEMINI_API_KEY=… mcp-bridge agent",
      "  mcp-bridge agent --provider openai --model qwen3 \\",
      "    --base-url http://127.0.0.1:11434/v1",
      "  mcp-bridge agent --once \"Which repositories are there?\"",
      "",
      "NO_COLOR switches colours off. Questions are remembered in",
      "$XDG_STATE_HOME/mcp-bridge/agent-history."
    })
final class AgentCommand implements Callable<Integer> {
  enum Output {
    TEXT,
    JSON
  }

  @Spec private CommandSpec spec;

  @Mixin private ModelOptions models;

  @Mixin private ConfigOption configuration;

  @Option(
      names = {"-u", "--mcp-url", "--url"},
      paramLabel = "URL",
      converter = HttpUrl.class,
      defaultValue = "${env:MCP_BRIDGE_URL:-}",
      description =
          "The bridge (default: MCP_BRIDGE_URL, else%nhttp://127.0.0.1:3000 if one is there, else one%n"
              + "of its own). Its API key is taken from%nMCP_BRIDGE_KEY in the environment.")
  private URI url;

  @Option(
      names = "--mcp-port",
      paramLabel = "PORT",
      description = "The bridge's port, instead of the one in its URL.")
  private Integer port;

  @Option(names = "--hide-json", description = "Show neither arguments nor results.")
  private boolean hidesJson;

  @Option(
      names = "--json-width",
      paramLabel = "COLUMNS",
      defaultValue = "100",
      description = "Of a line of JSON (default: ${DEFAULT-VALUE}).")
  private int jsonWidth;

  @Option(
      names = "--once",
      paramLabel = "QUESTION",
      description = "Ask, answer on stdout, and end; what needs an approval is not run.")
  private String once;

  @Option(
      names = "--output",
      paramLabel = "FORMAT",
      defaultValue = "TEXT",
      description = "With --once: ${COMPLETION-CANDIDATES}.")
  private Output output;

  @Option(
      names = "--transcript",
      paramLabel = "FILE",
      description = "Write down what is said and done; --replay FILE plays it again.")
  private Path transcript;

  @Option(
      names = "--max-steps",
      paramLabel = "N",
      defaultValue = "25",
      description = "How often the model is asked for one question (default: ${DEFAULT-VALUE}).")
  private int maxSteps;

  @Option(
      names = "--max-result",
      paramLabel = "CHARACTERS",
      defaultValue = "50000",
      description = "Of a result that the model gets to see (default: ${DEFAULT-VALUE}).")
  private int maxResult;

  private CompletableFuture<OwnBridge> own;

  @Override
  public Integer call() throws Exception {
    Supplier<BridgeTools.BridgeAddress> bridge = bridge();
    if (bridge == null) {
      return Main.FAILED;
    }
    try {
      AgentProgram program =
          new AgentProgram(
              new AgentProgram.AgentOptions(
                  models, bridge, limits(), hidesJson, jsonWidth, transcript));
      return once == null ? program.converse() : program.once(once, output == Output.JSON);
    } finally {
      stop();
    }
  }

  private AgentLimits limits() {
    return new AgentLimits(
        Math.max(1, maxSteps), Math.max(100, maxResult), AgentLimits.USUAL.manyTools());
  }

  /** The one that was named; else the usual one, if it is there; else one of its own. */
  private Supplier<BridgeTools.BridgeAddress> bridge() throws Exception {
    String key = BridgeClient.key();
    boolean isNamed = url != null || port != null;
    if (isNamed || !configuration.isGiven() && isListening(BridgeClient.USUAL)) {
      URI named = at(url == null ? BridgeClient.USUAL : url);
      return () -> new BridgeTools.BridgeAddress(named, key);
    }
    return ownBridge();
  }

  private URI at(URI base) throws URISyntaxException {
    if (port == null) {
      return base;
    }
    if (port < 1 || port > 65_535) {
      throw new ParameterException(spec.commandLine(), "--mcp-port is a number from 1 to 65535");
    }
    return new URI(base.getScheme(), null, base.getHost(), port, base.getPath(), null, null);
  }

  private static boolean isListening(URI bridge) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(bridge.getHost(), bridge.getPort()), 500);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** It starts while the human types; null where its configuration is wrong, which was said. */
  private Supplier<BridgeTools.BridgeAddress> ownBridge() {
    LogLineFormatter.configure(LogLineFormatter.Threshold.ERROR);
    BridgeConfig config = configuration.read();
    if (config == null) {
      return null;
    }
    own =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return OwnBridge.start(config, "agent");
              } catch (TimeoutException e) {
                throw new CompletionException(e);
              }
            });
    return () -> {
      try {
        OwnBridge bridge = own.join();
        return new BridgeTools.BridgeAddress(URI.create(bridge.url()), bridge.key());
      } catch (CompletionException e) {
        throw new BridgeException(
            ErrorCode.START_FAILED, "The bridge does not start: " + e.getCause().getMessage());
      }
    };
  }

  private void stop() {
    if (own != null) {
      own.thenAccept(OwnBridge::close).exceptionally(failed -> null).join();
    }
  }
}
