package dev.mcpbridge.transport;

import dev.mcpbridge.config.Launch;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A child process with everything that it starts. It runs in a session and process group of its own
 * ({@code setsid} keeps the pid, so the group's number is the pid), with a clean environment and a
 * {@link ProcessMark}; ending it ends whoever is in the group or carries the mark.
 *
 * <p>Its methods block; they are called on threads made for that.
 */
final class ProcessTree {
  private static final Set<String> INHERITED =
      Set.of(
          "HOME",
          "PATH",
          "USER",
          "LOGNAME",
          "SHELL",
          "LANG",
          "TERM",
          "TZ",
          "TMPDIR",
          "SYSTEMROOT",
          "PATHEXT",
          "COMSPEC",
          "TEMP",
          "TMP",
          "USERPROFILE",
          "APPDATA",
          "LOCALAPPDATA");
  private static final long POLL_MILLIS = 5;
  private static final int KILL_ROUNDS = 20;

  private final Process process;
  private final ProcessMark mark;

  private ProcessTree(Process process, ProcessMark mark) {
    this.process = process;
    this.mark = mark;
  }

  /**
   * Starts the command.
   *
   * @throws IOException saying which command could not be started and why
   */
  static ProcessTree start(Launch launch) throws IOException {
    ProcessMark mark = ProcessMark.next();
    Map<String, String> environment = environment(launch, mark);
    List<String> argv = new ArrayList<>(launch.argv());
    argv.set(0, resolve(argv.get(0), environment, launch.directory()));
    setsid().ifPresent(setsid -> argv.add(0, setsid));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().putAll(environment);
    if (launch.directory() != null) {
      builder.directory(launch.directory().toFile());
    }
    return new ProcessTree(builder.start(), mark);
  }

  Process process() {
    return process;
  }

  /**
   * Ends the tree: waits for the exit that closing stdin asked for, then SIGTERM, then SIGKILL.
   * Returns when no member is left, or when the kernel refuses to let go of one.
   */
  void end(long eofGraceMillis, long termGraceMillis) throws InterruptedException {
    process.waitFor(eofGraceMillis, TimeUnit.MILLISECONDS);
    List<ProcessHandle> members = members();
    if (!members.isEmpty()) {
      members.forEach(ProcessHandle::destroy);
      awaitEnd(termGraceMillis);
    }
    for (int round = 0; round < KILL_ROUNDS && !(members = members()).isEmpty(); round++) {
      members.forEach(ProcessHandle::destroyForcibly);
      awaitEnd(50);
    }
  }

  private void awaitEnd(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() < deadline && !members().isEmpty()) {
      Thread.sleep(POLL_MILLIS);
    }
  }

  private List<ProcessHandle> members() {
    Stream<ProcessHandle> found =
        ProcFs.exists()
            ? ProcFs.find(this::isMember).stream().flatMap(pid -> ProcessHandle.of(pid).stream())
            : Stream.concat(Stream.of(process.toHandle()), process.descendants());
    return found.filter(ProcessHandle::isAlive).toList();
  }

  private boolean isMember(ProcFs.Stat stat) {
    return stat.pid() == process.pid()
        || stat.group() == process.pid()
        || ProcessMark.of(stat.pid()).filter(mark::equals).isPresent();
  }

  /** Ends what bridges that no longer live have left behind; returns how many processes. */
  static int endOrphans() {
    List<Long> orphans =
        ProcFs.find(
            stat -> ProcessMark.of(stat.pid()).filter(found -> !found.isOwned()).isPresent());
    orphans.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    return orphans.size();
  }

  /** Ends everything that this bridge has started; returns how many processes. */
  static int endOwn() {
    ProcessMark own = ProcessMark.next();
    List<Long> children =
        ProcFs.find(stat -> ProcessMark.of(stat.pid()).filter(own::isOfSameBridge).isPresent());
    children.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    return children.size();
  }

  private static Map<String, String> environment(Launch launch, ProcessMark mark) {
    Map<String, String> environment = new TreeMap<>();
    System.getenv()
        .forEach(
            (name, value) -> {
              if (INHERITED.contains(name.toUpperCase(java.util.Locale.ROOT))
                  || name.startsWith("LC_")) {
                environment.put(name, value);
              }
            });
    launch.environment().forEach((name, value) -> environment.put(name, value.reveal()));
    environment.put(ProcessMark.VARIABLE, mark.toString());
    return environment;
  }

  /**
   * Looks for the command as execvp(3) would, so that its absence is known before anything runs.
   */
  private static String resolve(String command, Map<String, String> environment, Path directory)
      throws IOException {
    if (command.contains("/") || File.separatorChar != '/') {
      Path base = directory == null ? Path.of("") : directory;
      Path path = base.resolve(command).toAbsolutePath();
      if (File.separatorChar != '/' || isProgram(path)) {
        return command.startsWith("/") || File.separatorChar != '/' ? command : path.toString();
      }
      throw new IOException("'" + command + "' is not an executable file");
    }
    return search(command, environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin"))
        .orElseThrow(() -> new IOException("'" + command + "' was not found on the PATH"));
  }

  private static Optional<String> search(String command, String path) {
    return Stream.of(path.split(File.pathSeparator))
        .filter(entry -> !entry.isEmpty())
        .map(entry -> Path.of(entry).resolve(command))
        .filter(ProcessTree::isProgram)
        .map(Path::toString)
        .findFirst();
  }

  private static boolean isProgram(Path path) {
    return Files.isRegularFile(path) && Files.isExecutable(path);
  }

  private static Optional<String> setsid() {
    return Stream.of("/usr/bin/setsid", "/bin/setsid")
        .filter(path -> isProgram(Path.of(path)))
        .findFirst();
  }
}
