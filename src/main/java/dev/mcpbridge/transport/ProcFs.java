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
 * Reads process information from {@code /proc} (Linux, proc(5)). On other systems every result is
 * empty.
 */
public final class ProcFs {
  private static final Path ROOT = Path.of("/proc");
  private static final int PARENT = 1;
  private static final int GROUP = 2;
  private static final int START = 19;

  /**
   * One line of {@code /proc/PID/stat}.
   *
   * @param startTicks start time since boot; together with the pid it identifies a process uniquely
   */
  public record Stat(long pid, char state, long parent, long group, long startTicks) {
    public boolean isAlive() {
      return state != 'Z' && state != 'X';
    }

    /** The handle of this process; empty if it has ended, even if its pid was reused. */
    Optional<ProcessHandle> handle() {
      Optional<ProcessHandle> handle = ProcessHandle.of(pid);
      return handle.filter(found -> stat(pid).filter(this::isSame).isPresent());
    }

    private boolean isSame(Stat now) {
      return startTicks == now.startTicks;
    }
  }

  private ProcFs() {}

  public static boolean exists() {
    return Files.isReadable(ROOT.resolve("self/stat"));
  }

  public static Optional<Stat> stat(long pid) {
    try {
      return Optional.of(parse(pid, Files.readString(ROOT.resolve(pid + "/stat"))));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /** The value of a variable in the environment with which the process was started. */
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

  /** The boot id of this machine; empty if it is unavailable. */
  public static String boot() {
    return String.join("", lines(ROOT.resolve("sys/kernel/random/boot_id")));
  }

  /** The number of this process's PID namespace; empty if unavailable. */
  static String pidNamespace() {
    return link(ROOT.resolve("self/ns/pid")).replaceAll("\\D", "");
  }

  /** The target of a symbolic link; empty if it cannot be read. */
  public static String link(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  /** The lines of a file; empty if it cannot be read. */
  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException | RuntimeException e) {
      return List.of();
    }
  }

  /** The live processes that match the predicate. */
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
   * The given processes and all their descendants.
   *
   * @param all the processes to search for descendants
   */
  static List<Stat> withDescendants(Collection<Stat> roots, List<Stat> all) {
    Map<Long, List<Stat>> children = all.stream().collect(Collectors.groupingBy(Stat::parent));
    Set<Stat> found = new LinkedHashSet<>(roots);
    Deque<Stat> queue = new ArrayDeque<>(found);
    while (!queue.isEmpty()) {
      for (Stat child : children.getOrDefault(queue.remove().pid(), List.of())) {
        if (found.add(child)) {
          queue.add(child);
        }
      }
    }
    return List.copyOf(found);
  }

  /** The name in parentheses may contain any character, so fields are counted from its end. */
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
