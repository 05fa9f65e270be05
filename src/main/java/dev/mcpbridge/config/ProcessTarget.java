package dev.mcpbridge.config;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a child process is started: never through a shell, so {@code argv} is passed unchanged.
 *
 * @param environment variables of the entry; a few safe ones of the bridge are added
 * @param directory working directory; null for the bridge's own
 */
public record ProcessTarget(List<String> argv, Map<String, Secret> environment, Path directory)
    implements UpstreamTarget {
  static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  public ProcessTarget {
    argv = List.copyOf(argv);
    environment = Map.copyOf(environment);
  }

  @Override
  public List<String> secrets() {
    return Secret.in(environment);
  }

  /**
   * The executable file: a name with a slash is resolved against the working directory, any other
   * is searched on the PATH of the process. Empty if there is no such file. On Windows the command
   * is returned as it is, since the system has its own search rules. Blocks.
   *
   * @param inherited the bridge's PATH, for an entry without one; null for the default
   */
  public Optional<Path> executable(String inherited) {
    String command = argv.get(0);
    if (File.separatorChar != '/') {
      return Optional.of(Path.of(command));
    }
    if (command.contains("/")) {
      Path base = directory == null ? Path.of("") : directory;
      return Optional.of(base.resolve(command).toAbsolutePath())
          .filter(ProcessTarget::isExecutable);
    }
    String fallback = inherited == null ? DEFAULT_PATH : inherited;
    String path = environment.containsKey("PATH") ? environment.get("PATH").reveal() : fallback;
    return Stream.of(path.split(File.pathSeparator))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder).resolve(command))
        .filter(ProcessTarget::isExecutable)
        .findFirst();
  }

  private static boolean isExecutable(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
