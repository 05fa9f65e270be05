package dev.mcpbridge.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A control group of Linux (version 2, cgroups(7)). What a member starts is a member, too, whatever
 * it does to its environment, its session and its parent. Not every bridge may make one.
 *
 * @param folder its folder in the file system of control groups
 */
record ControlGroup(Path folder) {
  private static final Logger LOG = System.getLogger(ControlGroup.class.getName());
  private static final String MEMBERS = "cgroup.procs";
  private static final int MOUNT_ROOT = 3;
  private static final int MOUNT_POINT = 4;

  /** A new one below the bridge's own; empty where the bridge may not make any. */
  static Optional<ControlGroup> make() {
    try {
      Path own =
          path(
                  Files.readString(Path.of("/proc/self/mountinfo")),
                  Files.readString(Path.of("/proc/self/cgroup")))
              .orElseThrow(() -> new IOException("there is no control group of version 2"));
      if (!Files.isWritable(own.resolve(MEMBERS))) {
        throw new IOException(own + " cannot be written");
      }
      return Optional.of(new ControlGroup(Files.createTempDirectory(own, "mcp-bridge-")));
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.DEBUG, "servers have no control groups: {0}", e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * Where a process finds its own control group.
   *
   * @param mounts {@code /proc/PID/mountinfo}
   * @param groups {@code /proc/PID/cgroup}
   */
  static Optional<Path> path(String mounts, String groups) {
    Optional<String> group =
        groups
            .lines()
            .filter(line -> line.startsWith("0::/"))
            .map(line -> line.substring(3))
            .findFirst();
    return group.flatMap(
        path ->
            mounts
                .lines()
                .filter(line -> line.contains(" - cgroup2 "))
                .map(line -> line.split(" "))
                .filter(mount -> isBelow(path, mount[MOUNT_ROOT]))
                .map(mount -> Path.of(mount[MOUNT_POINT] + below(path, mount[MOUNT_ROOT])))
                .findFirst());
  }

  private static boolean isBelow(String path, String root) {
    return Path.of(path).startsWith(root);
  }

  private static String below(String path, String root) {
    return root.equals("/") ? path : path.substring(root.length());
  }

  /** A new one within this one, with a process that runs already and what that has started. */
  Optional<ControlGroup> of(long number, Process process) {
    ControlGroup group = new ControlGroup(folder.resolve(Long.toString(number)));
    try {
      Files.createDirectory(group.folder);
      group.take(process.pid());
      for (ProcessHandle started : process.descendants().toList()) {
        group.take(started.pid());
      }
      return Optional.of(group);
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "process {0} has no control group: {1}", process.pid(), e.getMessage());
      group.remove();
      return Optional.empty();
    }
  }

  /** A process that has ended meanwhile needs no group. */
  private void take(long pid) throws IOException {
    try {
      Files.writeString(folder.resolve(MEMBERS), Long.toString(pid), StandardOpenOption.WRITE);
    } catch (IOException e) {
      if (ProcFs.stat(pid).filter(ProcFs.Stat::isAlive).isPresent()) {
        throw e;
      }
    }
  }

  /** The processes in it and in the groups within it that can be seen from here. */
  Set<Long> members() {
    return folders().stream()
        .flatMap(within -> ProcFs.lines(within.resolve(MEMBERS)).stream())
        .map(Long::valueOf)
        .filter(pid -> pid > 0)
        .collect(Collectors.toSet());
  }

  /** Ends all members at once, where the kernel can (5.14). */
  void kill() {
    try {
      Files.writeString(folder.resolve("cgroup.kill"), "1", StandardOpenOption.WRITE);
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "{0} is not ended as a whole: {1}", folder, e.getMessage());
    }
  }

  /** False where it still has members. */
  boolean remove() {
    for (Path within : folders()) {
      try {
        Files.deleteIfExists(within);
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }

  /** Its own and those within it, innermost first. */
  private List<Path> folders() {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isDirectory).sorted(Comparator.reverseOrder()).toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }
}
