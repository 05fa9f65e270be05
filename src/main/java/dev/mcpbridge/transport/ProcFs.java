package dev.mcpbridge.transport;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What Linux tells of processes in {@code /proc} (proc(5)). Elsewhere there is none, and every
 * question has an empty answer.
 */
final class ProcFs {
  private static final Path ROOT = Path.of("/proc");
  private static final int PARENT = 1;
  private static final int GROUP = 2;
  private static final int START = 19;

  /**
   * One line of {@code /proc/PID/stat}.
   *
   * @param startTicks since boot; with the pid it names a process for good
   */
  record Stat(long pid, char state, long parent, long group, long startTicks) {
    boolean isAlive() {
      return state != 'Z' && state != 'X';
    }

    /** Of this very process, and not of one that has its pid now. */
    Optional<ProcessHandle> handle() {
      Optional<ProcessHandle> handle = ProcessHandle.of(pid);
      return handle.filter(found -> stat(pid).filter(this::isSame).isPresent());
    }

    private boolean isSame(Stat now) {
      return startTicks == now.startTicks;
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

  /** When this machine was started, as an id; empty where that is not told. */
  static String boot() {
    return String.join("", lines(ROOT.resolve("sys/kernel/random/boot_id")));
  }

  /** The number of this process's PID namespace; empty where there is none. */
  static String pidNamespace() {
    return link(ROOT.resolve("self/ns/pid")).replaceAll("\\D", "");
  }

  /** What a link of the file system of processes says; empty where it cannot be read. */
  static String link(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  /** None of a file that cannot be read. */
  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException | RuntimeException e) {
      return List.of();
    }
  }

  /** The living processes that the test picks. */
  static List<Stat> find(Predicate<Stat> test) {
    List<Stat> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(ROOT, "[0-9]*")) {
      for (Path entry : entries) {
        long pid = Long.parseLong(entry.getFileName().toString());
        stat(pid).filter(Stat::isAlive).filter(test).ifPresent(found::add);
      }
    } catch (IOException | RuntimeException e) {
      return found;
    }
    return found;
  }

  /**
   * Some processes and all that descend from them.
   *
   * @param all those among which descendants are looked for
   */
  static List<Stat> withDescendants(Collection<Stat> some, List<Stat> all) {
    Map<Long, List<Stat>> children = all.stream().collect(Collectors.groupingBy(Stat::parent));
    Set<Stat> found = new LinkedHashSet<>(some);
    Deque<Stat> open = new ArrayDeque<>(found);
    while (!open.isEmpty()) {
      for (Stat child : children.getOrDefault(open.remove().pid(), List.of())) {
        if (found.add(child)) {
          open.add(child);
        }
      }
    }
    return List.copyOf(found);
  }

  /** The name in parentheses may hold anything, so fields are counted from its end. */
  private static Stat parse(long pid, String line) {
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
    return new Stat(
        pid,
        fields[0].charAt(0),
        Long.parseLong(fields[PARENT]),
        Long.parseLong(fields[GROUP]),
        Long.parseLong(fields[START].trim()));
  }
}
