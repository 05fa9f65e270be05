package dev.mcpbridge.config;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a child process is started: never through a shell, so {@code argv} arrives as it stands.
 *
 * @param environment what the entry declares; a small safe list of the bridge's own is added
 * @param directory where it runs, null for the bridge's own
 */
public record ProcessTarget(List<String> argv, Map<String, Secret> environment, Path directory)
    implements UpstreamTarget {
  static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  public ProcessTarget {
    argv = List.copyOf(argv);
    environment = Map.copyOf(environment);
  }

  /**
   * The file that is started: where its name has a slash as seen from its directory, else the first
   * on its own PATH; empty where there is none. Windows finds it in a way of its own. Blocks.
   *
   * @param inherited the bridge's PATH, for an entry that declares none; null for the usual one
   */
  public Optional<Path> program(String inherited) {
    String command = argv.get(0);
    if (File.separatorChar != '/') {
      return Optional.of(Path.of(command));
    }
    if (command.contains("/")) {
      Path base = directory == null ? Path.of("") : directory;
      return Optional.of(base.resolve(command).toAbsolutePath()).filter(ProcessTarget::isProgram);
    }
    String usual = inherited == null ? DEFAULT_PATH : inherited;
    String path = environment.containsKey("PATH") ? environment.get("PATH").reveal() : usual;
    return Stream.of(path.split(File.pathSeparator))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder).resolve(command))
        .filter(ProcessTarget::isProgram)
        .findFirst();
  }

  private static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
