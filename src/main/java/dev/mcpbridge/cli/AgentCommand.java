package dev.mcpbridge.cli;

import dev.mcpbridge.Version;
import dev.mcpbridge.agent.AgentLimits;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.cli.agent.AgentProgram;
import dev.mcpbridge.cli.agent.HttpUrl;
import dev.mcpbridge.cli.agent.ModelOptions;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.TelemetryConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.trace.Tracer;
import dev.mcpbridge.trace.otel.OpenTelemetryTracer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a model with the tools of a bridge, at the terminal or for one question of a script. */
@Command(
    name = "agent",
    description = "Talk to a model that can call the tools of a bridge.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "  mcp-bridge agent --provider replay",
      "  GEMINI_API_KEY=… mcp-bridge agent",
      "  mcp-bridge agent --provider openai --model qwen3 \\",
      "    --base-url http://127.0.0.1:11434/v1",
      "  mcp-bridge agent --once \"Which repositories are there?\"",
      "",
      "NO_COLOR disables colours. The history of questions is stored in",
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
          "The bridge (default: MCP_BRIDGE_URL, else%nhttp://127.0.0.1:3000 if one runs there,%n"
              + "else an embedded one). Its API key is read%nfrom MCP_BRIDGE_KEY in the"
              + " environment;%nwithout one, a login is used.")
  private URI url;

  @Option(
      names = "--mcp-port",
      paramLabel = "PORT",
      description = "Port of the bridge; overrides the one in its URL.")
  private Integer port;

  @Option(names = "--hide-json", description = "Hide arguments and results.")
  private boolean hidesJson;

  @Option(
      names = "--json-width",
      paramLabel = "COLUMNS",
      defaultValue = "100",
      description = "Maximum width of a line of JSON (default: ${DEFAULT-VALUE}).")
  private int jsonWidth;

  @Option(
      names = "--once",
      paramLabel = "QUESTION",
      description =
          "Ask one question, print the answer to stdout and exit. Calls that need an approval are"
              + " not run.")
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
      description = "Write the conversation to a file, for --replay FILE.")
  private Path transcript;

  @Option(
      names = "--max-steps",
      paramLabel = "N",
      defaultValue = "25",
      description = "Maximum requests to the model for one question (default: ${DEFAULT-VALUE}).")
  private int maxSteps;

  @Option(
      names = "--max-result",
      paramLabel = "CHARACTERS",
      defaultValue = "50000",
      description =
          "Maximum length of a result that is sent to the model (default: ${DEFAULT-VALUE}).")
  private int maxResult;

  private CompletableFuture<EmbeddedBridge> embedded;

  @Override
  public Integer call() throws Exception {
    LogLineFormatter.configure(LogLineFormatter.Threshold.ERROR);
    Tracer tracer;
    try {
      tracer = tracer();
    } catch (BridgeException e) {
      System.err.println(e.getMessage());
      return Main.FAILED;
    }
    try {
      Supplier<BridgeTools.BridgeAddress> bridge = bridge();
      AgentLimits limits = new AgentLimits(Math.max(1, maxSteps), Math.max(100, maxResult));
      return new AgentProgram(models, bridge, limits, hidesJson, jsonWidth, transcript, tracer)
          .run(once, output == Output.JSON);
    } finally {
      stop();
      tracer.close().await(3, TimeUnit.SECONDS);
    }
  }

  private static Tracer tracer() {
    TelemetryConfig config = TelemetryConfig.of(System.getenv());
    return config.isOn()
        ? OpenTelemetryTracer.open(config, "mcp-bridge-agent", Version.current(), null)
        : Tracer.OFF;
  }

  /** The bridge of the command line, else the default one if it listens, else an embedded one. */
  private Supplier<BridgeTools.BridgeAddress> bridge() throws Exception {
    boolean isNamed = url != null || port != null;
    if (isNamed || !configuration.isGiven() && isListening(BridgeClient.DEFAULT_URL)) {
      URI named = at(url == null ? BridgeClient.DEFAULT_URL : url);
      return () ->
          new BridgeTools.BridgeAddress(named, BridgeClient.credential(BridgeClient.base(named)));
    }
    return ownBridge();
  }

  private URI at(URI base) throws URISyntaxException {
    if (port == null) {
      return base;
    }
    if (port < 1 || port > 65_535) {
      throw new ParameterException(spec.commandLine(), "--mcp-port must be from 1 to 65535");
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

  /** Starts an embedded bridge in the background. */
  private Supplier<BridgeTools.BridgeAddress> ownBridge() {
    BridgeConfig config = configuration.read();
    embedded = CompletableFuture.supplyAsync(() -> EmbeddedBridge.start(config, "agent"));
    return () -> {
      try {
        EmbeddedBridge bridge = embedded.join();
        return new BridgeTools.BridgeAddress(URI.create(bridge.url()), bridge::key);
      } catch (CompletionException e) {
        throw new BridgeException(
            ErrorCode.START_FAILED, "The bridge failed to start: " + e.getCause().getMessage());
      }
    };
  }

  private void stop() {
    if (embedded != null) {
      embedded.thenAccept(EmbeddedBridge::close).exceptionally(failed -> null).join();
    }
  }
}
