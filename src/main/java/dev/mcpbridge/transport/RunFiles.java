package dev.mcpbridge.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * A folder, writable by its user only, with one file per run of a bridge that has children. A
 * bridge keeps its file locked while it is alive; the lock is visible from every PID namespace. An
 * unlocked file belongs to a dead bridge of this user; its content is trusted.
 */
record RunFiles(Path folder) {
  private static final String SUFFIX = ".life";
  private static final int MAX_BYTES = 8192;

  /**
   * Files locked by this process. They must not be opened again: closing any descriptor of a file
   * releases all locks of the process on it (fcntl(2)).
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  /** The record of a dead bridge. */
  record DeadRun(BridgeRun bridgeRun, Optional<ControlGroup> group) {}

  /** The locked file of this bridge. */
  record LockedFile(Path file, FileChannel channel) {

    /** Deletes the file before its lock is released, so that the run is never taken for dead. */
    void delete() {
      try (channel) {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        // harmless: the next sweep finds no process of this run
      }
      HELD.remove(file);
    }
  }

  /** The usable folders, in order of preference. */
  static Stream<RunFiles> all() {
    String runtime = System.getenv("XDG_RUNTIME_DIR");
    String home = System.getenv().getOrDefault("HOME", System.getProperty("user.home"));
    return Stream.concat(
            runtime == null || runtime.isBlank() ? Stream.empty() : Stream.of(Path.of(runtime)),
            Stream.of(Path.of(home, ".cache")))
        .map(parent -> new RunFiles(parent.resolve("mcp-bridge")))
        .filter(RunFiles::isUsable);
  }

  private boolean isUsable() {
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      Map<String, Object> own =
          Files.readAttributes(folder, "unix:uid,permissions", LinkOption.NOFOLLOW_LINKS);
      @SuppressWarnings("unchecked")
      Set<PosixFilePermission> permissions = (Set<PosixFilePermission>) own.get("permissions");
      return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
          && Files.isWritable(folder)
          && !permissions.contains(PosixFilePermission.GROUP_WRITE)
          && !permissions.contains(PosixFilePermission.OTHERS_WRITE)
          && own.get("uid").equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /** Records a run of this process; empty if no locked file can be created in the folder. */
  Optional<LockedFile> write(BridgeRun bridgeRun, Optional<ControlGroup> group) {
    String text = bridgeRun + "\n" + group.map(parent -> parent.folder().toString()).orElse("");
    try {
      Path draft = Files.createTempFile(folder, bridgeRun.pid() + "-", ".draft");
      Path file = folder.resolve(draft.getFileName().toString().replace(".draft", SUFFIX));
      FileChannel channel = FileChannel.open(draft, StandardOpenOption.WRITE);
      try {
        channel.lock();
        channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        HELD.add(file);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        return Optional.of(new LockedFile(file, channel));
      } catch (IOException e) {
        new LockedFile(draft, channel).delete();
        return Optional.empty();
      }
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Cleans up after each run that is certainly dead, and deletes its file. A run of another PID
   * namespace is left to a bridge of that namespace; for a run before the last boot only the file
   * is deleted.
   *
   * @param current the run of this process
   * @param end kills the processes of a dead run and returns their number
   * @return number of processes killed
   */
  int sweep(BridgeRun current, ToIntFunction<DeadRun> end) {
    int ended = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path file : files) {
        ended += HELD.contains(file) ? 0 : sweepFile(file, current, end);
      }
    } catch (IOException e) {
      return ended;
    }
    return ended;
  }

  private static int sweepFile(Path file, BridgeRun current, ToIntFunction<DeadRun> end) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      Optional<DeadRun> deadRun = channel.tryLock() == null ? Optional.empty() : read(channel);
      if (deadRun.isEmpty() || mustBeKept(deadRun.get().bridgeRun(), current)) {
        return 0;
      }
      int ended =
          deadRun.get().bridgeRun().isOfSameBoot(current) ? end.applyAsInt(deadRun.get()) : 0;
      Files.deleteIfExists(file);
      return ended;
    } catch (IOException | OverlappingFileLockException e) {
      return 0;
    }
  }

  private static boolean mustBeKept(BridgeRun bridgeRun, BridgeRun current) {
    return bridgeRun.isOfSameBoot(current)
        && (!bridgeRun.isInSameNamespace(current) || bridgeRun.isAlive());
  }

  private static Optional<DeadRun> read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
    channel.read(bytes);
    String[] lines =
        new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).split("\n", -1);
    Optional<ControlGroup> group =
        lines.length < 2 || lines[1].isBlank()
            ? Optional.empty()
            : Optional.of(new ControlGroup(Path.of(lines[1])));
    return BridgeRun.parse(lines[0]).map(bridgeRun -> new DeadRun(bridgeRun, group));
  }
}
