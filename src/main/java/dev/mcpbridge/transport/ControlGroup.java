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
 * A Linux control group (version 2, cgroups(7)). Processes started by a member are members, too,
 * even if they change their environment, session or parent. Not every user may create one.
 *
 * @param folder its folder in the cgroup file system
 */
record ControlGroup(Path folder) {
  private static final Logger LOG = System.getLogger(ControlGroup.class.getName());
  private static final String MEMBERS = "cgroup.procs";
  private static final int MOUNT_ROOT = 3;
  private static final int MOUNT_POINT = 4;

  /** Creates a group below the bridge's own; empty if the bridge may not create one. */
  static Optional<ControlGroup> create() {
    try {
      Path own =
          path(
                  Files.readString(Path.of("/proc/self/mountinfo")),
                  Files.readString(Path.of("/proc/self/cgroup")))
              .orElseThrow(() -> new IOException("no cgroup v2 hierarchy is mounted"));
      if (!Files.isWritable(own.resolve(MEMBERS))) {
        throw new IOException(own + " is not writable");
      }
      return Optional.of(new ControlGroup(Files.createTempDirectory(own, "mcp-bridge-")));
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.DEBUG, "control groups unavailable: error={0}", e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * The folder of a process's own control group; empty without cgroup v2.
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

  /** Creates a child group and moves a running process with its descendants into it. */
  Optional<ControlGroup> createChild(long number, Process process) {
    ControlGroup group = new ControlGroup(folder.resolve(Long.toString(number)));
    try {
      Files.createDirectory(group.folder);
      group.add(process.pid());
      for (ProcessHandle descendant : process.descendants().toList()) {
        group.add(descendant.pid());
      }
      return Optional.of(group);
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "no control group: pid={0} error={1}", process.pid(), e.getMessage());
      group.remove();
      return Optional.empty();
    }
  }

  /** Adds a process; does nothing if it has ended in the meantime. */
  private void add(long pid) throws IOException {
    try {
      Files.writeString(folder.resolve(MEMBERS), Long.toString(pid), StandardOpenOption.WRITE);
    } catch (IOException e) {
      if (ProcFs.stat(pid).filter(ProcFs.Stat::isAlive).isPresent()) {
        throw e;
      }
    }
  }

  /** PIDs in this group and its subgroups, as far as they are visible in this namespace. */
  Set<Long> members() {
    return folders().stream()
        .flatMap(subfolder -> ProcFs.lines(subfolder.resolve(MEMBERS)).stream())
        .map(Long::valueOf)
        .filter(pid -> pid > 0)
        .collect(Collectors.toSet());
  }

  /** Kills all members at once, if the kernel supports it (5.14). */
  void kill() {
    try {
      Files.writeString(folder.resolve("cgroup.kill"), "1", StandardOpenOption.WRITE);
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "cgroup.kill failed: group={0} error={1}", folder, e.getMessage());
    }
  }

  /** Removes the group; false if it still has members. */
  boolean remove() {
    for (Path subfolder : folders()) {
      try {
        Files.deleteIfExists(subfolder);
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }

  /** The folders of this group and its subgroups, innermost first. */
  private List<Path> folders() {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isDirectory).sorted(Comparator.reverseOrder()).toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }
}
