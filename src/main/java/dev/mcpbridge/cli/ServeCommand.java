package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigSchema;
import io.vertx.core.Vertx;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a bridge until the process is terminated. */
@Command(
    name = "serve",
    description = "Run the bridge.",
    mixinStandardHelpOptions = true,
    footer = {"", "Changes of the file are applied at once; unchanged servers keep running."})
final class ServeCommand implements Callable<Integer> {
  static final int RUNNING = -1;

  private static final FutureTask<Vertx> VERTX = new FutureTask<>(ServeCommand::load);

  @Spec private CommandSpec spec;

  @Mixin private ConfigOption configuration;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Port; 0 for any free one.")
  private Integer port;

  @Mixin private ClusterOptions cluster;

  @Option(
      names = "--log",
      paramLabel = "LEVEL",
      defaultValue = "info",
      description = "debug, info, warning or error (default: ${DEFAULT-VALUE}).")
  private LogLineFormatter.Threshold threshold;

  @Option(
      names = "--log-format",
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "text, or json: one object on a line (default: ${DEFAULT-VALUE}).")
  private LogLineFormatter.Format logFormat;

  @Option(
      names = "--grace",
      paramLabel = "SECONDS",
      defaultValue = "10",
      description =
          "Time for running calls to finish when the bridge stops (default: ${DEFAULT-VALUE}).")
  private int graceSeconds;

  @Option(
      names = "--train",
      hidden = true,
      description =
          "Start, answer a few requests of its own and stop, to create the class-data archive.")
  private boolean train;

  /**
   * Reads the schema and creates the Vert.x in the background, while the command line and the
   * configuration are read: a twentieth of the start.
   */
  static void prepare() {
    Thread thread = new Thread(VERTX, "mcp-start");
    thread.setDaemon(true);
    thread.start();
  }

  private static Vertx load() {
    ConfigSchema.root();
    return Bridge.vertx();
  }

  /** The prepared Vert.x; created now if it was not prepared. */
  private static Vertx vertx() throws InterruptedException, ExecutionException {
    VERTX.run();
    return VERTX.get();
  }

  @Override
  public Integer call() throws Exception {
    if (graceSeconds < 0) {
      throw new ParameterException(spec.commandLine(), "--grace must be 0 or more seconds");
    }
    LogLineFormatter.configure(threshold, logFormat);
    cluster.nodeOptions().ifPresent(configuration::useNodeOptions);
    BridgeConfig config = withPort(configuration.read());
    JsonLogFormatter.setNode(config.cluster() == null ? null : config.cluster().node());
    config.warnings().forEach(warning -> System.err.println("warning: " + warning));
    Bridge bridge;
    try {
      bridge = Bridge.start(vertx(), config).await(60, TimeUnit.SECONDS);
    } catch (Exception e) {
      System.err.println("cannot start: " + e.getMessage());
      return Main.FAILED;
    }
    if (train) {
      TrainingRun.run(bridge);
      return 0;
    }
    UninterruptedLog.keep();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(bridge)));
    boolean isShared = config.cluster() != null && config.cluster().sharesFile();
    configuration.watch(bridge, isShared);
    printBanner(System.out, bridge, config, configuration.source());
    return RUNNING;
  }

  private BridgeConfig withPort(BridgeConfig config) {
    if (port != null && (port < 0 || port > 65_535)) {
      throw new ParameterException(spec.commandLine(), "--port must be from 0 to 65535");
    }
    int actualPort = train ? 0 : port == null ? config.http().port() : port;
    return config.withHttp(config.http().withPort(actualPort));
  }

  private void stop(Bridge bridge) {
    try {
      bridge.close(Duration.ofSeconds(graceSeconds)).await(graceSeconds + 30L, TimeUnit.SECONDS);
    } catch (Exception e) {
      System.err.println("shutdown incomplete: " + e);
    }
  }

  private static String openStartWarning(BridgeConfig config) {
    String who =
        config.http().isLoopback() ? "every local user" : "everyone who can reach this address";
    return who
        + " may start programs as "
        + System.getProperty("user.name")
        + " through POST /servers: add auth.keys, or set http.allowStart to false or"
        + " http.allowedCommands";
  }

  /** Prints the banner, with a command to try. */
  private static void printBanner(
      PrintStream out, Bridge bridge, BridgeConfig config, ConfigFile source) {
    String key = config.auth().isRequired() ? " -H \"Authorization: Bearer $KEY\"" : "";
    out.println("MCP Bridge is listening on " + bridge.url());
    out.println("  configuration: " + source);
    if (config.http().console()) {
      out.println("  console:       " + bridge.url() + "/console");
    }
    out.println("  servers:       " + config.servers().keySet());
    if (config.cluster() != null) {
      out.println(
          "  node:          "
              + config.cluster().node()
              + " of "
              + String.join(", ", config.cluster().members()));
    }
    if (!config.auth().isRequired() && config.http().startRules().allowsAny()) {
      out.println("  warning:       " + openStartWarning(config));
    }
    out.println();
    out.println("Try:");
    out.println("  curl -s" + key + " " + bridge.url() + "/tools");
    config.servers().keySet().stream()
        .filter(id -> id.name().equals("git"))
        .findFirst()
        .ifPresent(
            git ->
                out.println(
                    "  curl -s"
                        + key
                        + " "
                        + bridge.url()
                        + "/servers/git/tools/list_repositories -X POST"));
    out.flush();
  }
}
