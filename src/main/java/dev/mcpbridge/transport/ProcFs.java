package dev.mcpbridge.transport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What Linux tells of processes in {@code /proc} (proc(5)). Elsewhere there is none, and every
 * question has an empty answer.
 */
final class ProcFs {
  private static final Path ROOT = Path.of("/proc");
  private static final int GROUP = 2;
  private static final int START = 19;

  /**
   * One line of {@code /proc/PID/stat}.
   *
   * @param startTicks since boot; with the pid it names a process for good
   */
  record Stat(long pid, char state, long group, long startTicks) {
    boolean isAlive() {
      return state != 'Z' && state != 'X';
    }
  }

  private ProcFs() {}

  static boolean exists() {
    return Files.isReadable(ROOT.resolve("self/stat"));
  }

  static Optional<Stat> stat(long pid) {
    try {
      return Optional.of(parse(pid, Files.readString(ROOT.resolve(pid + "/stat"))));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /** The value of a variable in the environment that the process was started with. */
  static Optional<String> variable(long pid, String name) {
    try {
      byte[] environ = Files.readAllBytes(ROOT.resolve(pid + "/environ"));
      String prefix = name + "=";
      for (String entry : new String(environ, StandardCharsets.ISO_8859_1).split("\0")) {
        if (entry.startsWith(prefix)) {
          return Optional.of(entry.substring(prefix.length()));
        }
      }
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /** The living processes that the test picks; those of other users are not seen. */
  static List<Long> find(Predicate<Stat> test) {
    List<Long> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(ROOT, "[0-9]*")) {
      for (Path entry : entries) {
        long pid = Long.parseLong(entry.getFileName().toString());
        stat(pid).filter(Stat::isAlive).filter(test).ifPresent(stat -> found.add(pid));
      }
    } catch (IOException | RuntimeException e) {
      return found;
    }
    return found;
  }

  /** The name in parentheses may hold anything, so fields are counted from its end. */
  private static Stat parse(long pid, String line) {
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
    return new Stat(
        pid,
        fields[0].charAt(0),
        Long.parseLong(fields[GROUP]),
        Long.parseLong(fields[START].trim()));
  }
}
