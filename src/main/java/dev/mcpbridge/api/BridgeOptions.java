package dev.mcpbridge.api;

import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.config.ConfigReader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The configuration of a bridge within a program: that of {@code mcp-bridge serve}, without a
 * listener unless one is asked for. Immutable.
 */
public final class BridgeOptions {
  private final BridgeConfig config;
  private final boolean listens;

  private BridgeOptions(BridgeConfig config, boolean listens) {
    this.config = config;
    this.listens = listens;
  }

  /**
   * Reads a configuration file. Blocks.
   *
   * @throws IllegalArgumentException with a line for each problem
   */
  public static BridgeOptions fromFile(Path file) {
    ConfigFile source = new ConfigFile(file);
    try {
      return new BridgeOptions(read(source.read()).withLockFile(source.lockFile()), false);
    } catch (ConfigException e) {
      throw invalid(file + ": ", e);
    }
  }

  /**
   * Reads the text of a configuration.
   *
   * @throws IllegalArgumentException with a line for each problem
   */
  public static BridgeOptions fromJson(String json) {
    try {
      return new BridgeOptions(read(json), false);
    } catch (ConfigException e) {
      throw invalid("", e);
    }
  }

  /** The variable PORT is meant for the program itself. */
  private static BridgeConfig read(String json) {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.remove("PORT");
    BridgeConfig config =
        new ConfigReader(environment).read(json, ConfigReader.Strictness.PER_SERVER);
    if (config.cluster() != null) {
      throw problem("cluster", "a bridge within a program cannot be a node: use mcp-bridge serve");
    }
    if (config.auth().hasIssuer(Caller.PROGRAM)) {
      throw problem("auth.issuers", "'" + Caller.PROGRAM + "' is the name for the program itself");
    }
    return config.withAuth(config.auth().withProgram(Caller.PROGRAM));
  }

  private static ConfigException problem(String path, String message) {
    return new ConfigException(List.of(new ConfigProblem(path, message)));
  }

  private static IllegalArgumentException invalid(String source, ConfigException e) {
    return new IllegalArgumentException(
        e.problems().stream()
            .map(problem -> source + problem)
            .collect(Collectors.joining(System.lineSeparator())));
  }

  /** With a listener at {@code http.host} and {@code http.port}. */
  public BridgeOptions listening() {
    return new BridgeOptions(config, true);
  }

  /** Problems that do not prevent the start, such as a server whose entry is invalid. */
  public List<String> warnings() {
    return config.warnings().stream().map(ConfigProblem::toString).toList();
  }

  BridgeConfig config() {
    return listens ? config : config.withHttp(config.http().withoutListener());
  }
}
