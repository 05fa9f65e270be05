package dev.mcpbridge.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The location of the configuration. Without a file the bridge uses a built-in default, which
 * serves the built-in Git server.
 *
 * @param path null for the built-in default
 */
public record ConfigFile(Path path) {
  private static final String DEFAULT = "/dev/mcpbridge/conf/bridge.json";

  /**
   * Returns the named file, or else {@code MCP_CONFIG_PATH}, {@code conf/bridge.json}, {@code
   * mcp_config.json}, in this order.
   *
   * @param named null if no file was named
   */
  public static ConfigFile find(Path named, Map<String, String> environment) {
    if (named != null) {
      return new ConfigFile(named);
    }
    String variable = environment.get("MCP_CONFIG_PATH");
    if (variable != null) {
      return new ConfigFile(Path.of(variable));
    }
    return Stream.of(Path.of("conf", "bridge.json"), Path.of("mcp_config.json"))
        .filter(Files::isReadable)
        .findFirst()
        .map(ConfigFile::new)
        .orElseGet(() -> new ConfigFile(null));
  }

  /**
   * Returns the current text. Blocks.
   *
   * @throws ConfigException if the file cannot be read
   */
  public String read() {
    try {
      return path == null ? builtIn() : Files.readString(path);
    } catch (IOException e) {
      throw new ConfigException(List.of(new ConfigProblem(path.toString(), "cannot be read")));
    }
  }

  /** The lock file beside it; null for the built-in default. */
  public Path lockFile() {
    return path == null ? null : path.resolveSibling("bridge.lock.json");
  }

  /** Time of the last change, in milliseconds of the wall clock; 0 if unknown. Blocks. */
  public long modifiedMillis() {
    try {
      return path == null ? 0 : Files.getLastModifiedTime(path).toMillis();
    } catch (IOException e) {
      return 0;
    }
  }

  private static String builtIn() throws IOException {
    try (InputStream in = ConfigFile.class.getResourceAsStream(DEFAULT)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public String toString() {
    return path == null ? "built-in default" : path.toString();
  }
}
