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
 * A folder that only its user can change, with a file for each run of a bridge that has children.
 * The bridge holds a lock on its file for as long as it lives, which is seen from every PID
 * namespace. What stands in a file whose lock is free was written by a bridge of this user that is
 * dead; nothing else is judged.
 */
record RunFiles(Path folder) {
  private static final String SUFFIX = ".life";
  private static final int MAX_BYTES = 8192;

  /**
   * Those of this process. They are not to be opened a second time: closing any descriptor of a
   * file lets all locks of the process on it go (fcntl(2)).
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  /** What a dead bridge has written down. */
  record DeadRun(BridgeRun bridgeRun, Optional<ControlGroup> group) {}

  /** The file of a living bridge: of this one. */
  record LockedFile(Path file, FileChannel channel) {

    /** First the file and then its lock, so that nobody takes the bridge for a dead one. */
    void delete() {
      try (channel) {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        // the next sweep finds no process that belongs to it
      }
      HELD.remove(file);
    }
  }

  /** The folders that are to be used, the best one first. */
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

  /** Writes down a life of this process; empty where the folder takes no locked file. */
  Optional<LockedFile> write(BridgeRun bridgeRun, Optional<ControlGroup> group) {
    String text = bridgeRun + "\n" + group.map(known -> known.folder().toString()).orElse("");
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
   * Hands over each life that is surely over, and forgets it. One of another PID namespace is left
   * for a bridge of that namespace; one from before the machine's last start is only forgotten.
   *
   * @param here the life of this process
   * @param end ends what is left of one; returns how many processes
   * @return how many processes were ended
   */
  int sweep(BridgeRun here, ToIntFunction<DeadRun> end) {
    int ended = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path file : files) {
        ended += HELD.contains(file) ? 0 : judge(file, here, end);
      }
    } catch (IOException e) {
      return ended;
    }
    return ended;
  }

  private static int judge(Path file, BridgeRun here, ToIntFunction<DeadRun> end) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      Optional<DeadRun> past = channel.tryLock() == null ? Optional.empty() : read(channel);
      if (past.isEmpty() || isOfNoConcern(past.get().bridgeRun(), here)) {
        return 0;
      }
      int ended = past.get().bridgeRun().isOfSameBoot(here) ? end.applyAsInt(past.get()) : 0;
      Files.deleteIfExists(file);
      return ended;
    } catch (IOException | OverlappingFileLockException e) {
      return 0;
    }
  }

  private static boolean isOfNoConcern(BridgeRun bridgeRun, BridgeRun here) {
    return bridgeRun.isOfSameBoot(here)
        && (!bridgeRun.isInSameNamespace(here) || bridgeRun.isAlive());
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
