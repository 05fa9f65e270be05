package dev.mcpbridge.cli;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.NodeOptions;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The configuration that a bridge of this process runs with. */
final class ConfigOption {
  static final String HELP =
      "Configuration file (default: MCP_CONFIG_PATH, else%n"
          + "conf/bridge.json, else mcp_config.json, else the%n"
          + "built-in Git server for this folder). PORT and%n"
          + "MCP_SERVER_<NAME>_COMMAND, _ARGS, _ENV,%n"
          + "_RISK_LEVEL, _DOCKER_CONFIG in the environment%n"
          + "override it.";

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = HELP)
  private Path file;

  private String text;
  private ConfigReader reader = new ConfigReader(System.getenv());

  /** Whether the command line names one. */
  boolean isGiven() {
    return file != null;
  }

  /** Reads it as a node of the cluster that it speaks of. */
  void inCluster(NodeOptions choice) {
    reader = new ConfigReader(System.getenv(), choice);
  }

  ConfigReader reader() {
    return reader;
  }

  ConfigFile source() {
    return ConfigFile.find(file, System.getenv());
  }

  /** What {@link #read} has read last. */
  String text() {
    return text;
  }

  /** The configuration as it stands now; null where it is wrong, which has been said then. */
  BridgeConfig read() {
    try {
      text = source().read();
      return reader.read(text, ConfigReader.Strictness.SERVER_BY_SERVER);
    } catch (ConfigException e) {
      CheckCommand.print(System.err, source(), e.problems());
      return null;
    }
  }
}
