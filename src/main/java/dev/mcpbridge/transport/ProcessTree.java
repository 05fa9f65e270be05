package dev.mcpbridge.transport;

import dev.mcpbridge.config.ProcessTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A child process with everything that it starts. It runs in a session and process group of its own
 * ({@code setsid} keeps the pid, so the group's number is the pid), with a clean environment, a
 * {@link ProcessMark} and, where the bridge may make one, a {@link ControlGroup}. Ending it ends
 * every process that is in one of the groups, carries the mark, or descends from one of these.
 * Without a control group a process is missed that has left the process group, has cleared its
 * environment, and whose parent has ended before the tree was last looked at.
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
  private final Optional<ControlGroup> group;

  /** Members that were seen: when they started, by their pid. */
  private final Map<Long, Long> seen = new HashMap<>();

  private ProcessTree(Process process, ProcessMark mark, Optional<ControlGroup> group) {
    this.process = process;
    this.mark = mark;
    this.group = group;
    ProcFs.stat(process.pid()).ifPresent(stat -> seen.put(stat.pid(), stat.startTicks()));
  }

  /**
   * Starts the command.
   *
   * @throws IOException saying which command could not be started and why
   */
  static ProcessTree start(ProcessTarget processTarget) throws IOException {
    CurrentRun own = CurrentRun.current();
    ProcessMark mark = ProcessMark.next(own.bridgeRun());
    Map<String, String> environment = environment(processTarget, mark);
    List<String> argv = new ArrayList<>(processTarget.argv());
    argv.set(0, program(processTarget));
    setsid().ifPresent(setsid -> argv.add(0, setsid));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().putAll(environment);
    if (processTarget.directory() != null) {
      builder.directory(processTarget.directory().toFile());
    }
    Process process = builder.start();
    return new ProcessTree(
        process, mark, own.group().flatMap(groups -> groups.of(mark.child(), process)));
  }

  Process process() {
    return process;
  }

  /**
   * Gets to know who belongs to the tree now: of a process whose parent has ended less can be told.
   */
  void look() {
    members();
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
      group.ifPresent(ControlGroup::kill);
      members.forEach(ProcessHandle::destroyForcibly);
      awaitEnd(50);
    }
    group.ifPresent(ControlGroup::remove);
  }

  private void awaitEnd(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() < deadline && !members().isEmpty()) {
      Thread.sleep(POLL_MILLIS);
    }
  }

  private List<ProcessHandle> members() {
    return ProcFs.exists()
        ? family().stream().flatMap(stat -> stat.handle().stream()).toList()
        : Stream.concat(Stream.of(process.toHandle()), process.descendants())
            .filter(ProcessHandle::isAlive)
            .toList();
  }

  private synchronized List<ProcFs.Stat> family() {
    Set<Long> grouped = group.map(ControlGroup::members).orElse(Set.of());
    List<ProcFs.Stat> all = ProcFs.find(stat -> true);
    Set<ProcFs.Stat> family =
        all.stream()
            .filter(stat -> grouped.contains(stat.pid()) || isMember(stat))
            .collect(Collectors.toSet());
    List<ProcFs.Stat> found = ProcFs.withDescendants(family, all);
    seen.clear();
    found.forEach(stat -> seen.put(stat.pid(), stat.startTicks()));
    return found;
  }

  private boolean isMember(ProcFs.Stat stat) {
    return Long.valueOf(stat.startTicks()).equals(seen.get(stat.pid()))
        || stat.group() == process.pid()
        || ProcessMark.of(stat.pid()).filter(mark::equals).isPresent();
  }

  private static Map<String, String> environment(ProcessTarget processTarget, ProcessMark mark) {
    Map<String, String> environment = new TreeMap<>();
    System.getenv()
        .forEach(
            (name, value) -> {
              if (INHERITED.contains(name.toUpperCase(java.util.Locale.ROOT))
                  || name.startsWith("LC_")) {
                environment.put(name, value);
              }
            });
    processTarget.environment().forEach((name, value) -> environment.put(name, value.reveal()));
    environment.put(ProcessMark.VARIABLE, mark.toString());
    return environment;
  }

  /**
   * Looks for the command as execvp(3) would, so that its absence is known before anything runs.
   */
  private static String program(ProcessTarget processTarget) throws IOException {
    String command = processTarget.argv().get(0);
    String failure =
        command.contains("/") ? "' is not an executable file" : "' was not found on the PATH";
    return processTarget
        .program(System.getenv("PATH"))
        .map(Path::toString)
        .orElseThrow(() -> new IOException("'" + command + failure));
  }

  private static Optional<String> setsid() {
    return Stream.of("/usr/bin/setsid", "/bin/setsid")
        .filter(path -> Files.isExecutable(Path.of(path)))
        .findFirst();
  }
}
