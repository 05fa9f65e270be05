package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.NodeOptions;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.nio.file.Path;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The configuration of a bridge in this process. */
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

  /** What {@link #read} has read last. */
  private String text;

  private ConfigReader reader = new ConfigReader(System.getenv());

  /** Whether the command line names a file. */
  boolean isGiven() {
    return file != null;
  }

  /** Reads the configuration as a node of its cluster from now on. */
  void useNodeOptions(NodeOptions choice) {
    reader = new ConfigReader(System.getenv(), choice);
  }

  ConfigFile source() {
    return ConfigFile.find(file, System.getenv());
  }

  /**
   * The current configuration.
   *
   * @throws BridgeException with a line for each problem if it is invalid
   */
  BridgeConfig read() {
    try {
      text = source().read();
      return reader
          .read(text, ConfigReader.Strictness.PER_SERVER)
          .withLockFile(source().lockFile());
    } catch (ConfigException e) {
      throw invalid(source(), e);
    }
  }

  /** Applies the changes of the file from now on. */
  void watch(Bridge bridge, boolean isShared) {
    new ConfigWatch(source(), text, reader, bridge, isShared).start();
  }

  static BridgeException invalid(ConfigFile source, ConfigException invalid) {
    return new BridgeException(
        ErrorCode.MALFORMED_REQUEST,
        invalid.problems().stream()
            .map(problem -> source + ": " + problem)
            .collect(Collectors.joining(System.lineSeparator())));
  }
}
