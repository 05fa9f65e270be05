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
 * A child process with all its descendants. It runs in its own session and process group ({@code
 * setsid} keeps the pid, so the group id equals the pid), with a clean environment, a {@link
 * ProcessMark} and, if the bridge may create one, a {@link ControlGroup}. Ending the tree ends
 * every process that is in one of the groups, carries the mark, or descends from such a process.
 * Without a control group, a process is missed if it has left the process group and cleared its
 * environment, and its parent ended before the members were last scanned.
 *
 * <p>The methods block; they are called on dedicated threads.
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

  /** Start times of the members found by the last scan, by pid. */
  private final Map<Long, Long> lastMembers = new HashMap<>();

  private ProcessTree(Process process, ProcessMark mark, Optional<ControlGroup> group) {
    this.process = process;
    this.mark = mark;
    this.group = group;
    ProcFs.stat(process.pid()).ifPresent(stat -> lastMembers.put(stat.pid(), stat.startTicks()));
  }

  /**
   * Starts the command.
   *
   * @throws IOException with the command and the reason if it could not be started
   */
  static ProcessTree start(ProcessTarget processTarget) throws IOException {
    CurrentRun run = CurrentRun.current();
    ProcessMark mark = ProcessMark.next(run.bridgeRun());
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
        process, mark, run.group().flatMap(groups -> groups.createChild(mark.child(), process)));
  }

  Process process() {
    return process;
  }

  /** Scans the members, so that later scans still find those whose parent has ended by then. */
  void scanMembers() {
    members();
  }

  /**
   * Ends the tree: waits for the exit requested by closing stdin, then sends SIGTERM, then SIGKILL.
   * Returns when no member is left, or when some survive repeated SIGKILLs.
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
    lastMembers.clear();
    found.forEach(stat -> lastMembers.put(stat.pid(), stat.startTicks()));
    return found;
  }

  private boolean isMember(ProcFs.Stat stat) {
    return Long.valueOf(stat.startTicks()).equals(lastMembers.get(stat.pid()))
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
   * Resolves the command like execvp(3), so that a missing command is reported before the start.
   */
  private static String program(ProcessTarget processTarget) throws IOException {
    String command = processTarget.argv().get(0);
    String failure =
        command.contains("/") ? "' is not an executable file" : "' was not found on the PATH";
    return processTarget
        .executable(System.getenv("PATH"))
        .map(Path::toString)
        .orElseThrow(() -> new IOException("'" + command + failure));
  }

  private static Optional<String> setsid() {
    return Stream.of("/usr/bin/setsid", "/bin/setsid")
        .filter(path -> Files.isExecutable(Path.of(path)))
        .findFirst();
  }
}
