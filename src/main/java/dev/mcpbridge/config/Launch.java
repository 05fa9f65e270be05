package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How a child process is started: never through a shell, so {@code argv} arrives as it stands.
 *
 * @param environment what the entry declares; a small safe list of the bridge's own is added
 * @param directory where it runs, null for the bridge's own
 */
public record Launch(List<String> argv, Map<String, Secret> environment, Path directory)
    implements Reach {
  public Launch {
    argv = List.copyOf(argv);
    environment = Map.copyOf(environment);
  }
}
