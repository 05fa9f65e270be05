package dev.mcpbridge.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;

/**
 * How the containers of the bridge are known: whose they are, so that only what a dead bridge left
 * behind is swept away. A bridge judges only what it surely sees: the processes of its own user on
 * its own machine, since its start, in its own process namespace. Those of other users may be
 * hidden (proc(5), hidepid).
 *
 * @param scope the user, the machine's start and the process namespace
 * @param pid of the bridge
 * @param started when the bridge's process was, since process ids come again
 */
record Labels(String scope, long pid, String started) {
  static final String SCOPE = "dev.mcpbridge.scope";
  private static final String PID = "dev.mcpbridge.pid";
  private static final String STARTED = "dev.mcpbridge.started";
  private static final String SERVER = "dev.mcpbridge.server";
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int START_TICKS = 19;

  /** Of this process. */
  static Labels own() {
    long pid = ProcessHandle.current().pid();
    return new Labels(ownScope(), pid, started(pid));
  }

  Map<String, String> of(String server) {
    return Map.of(SCOPE, scope, PID, Long.toString(pid), STARTED, started, SERVER, server);
  }

  /** A name that a human can read and no other container has. */
  String name(String server) {
    return "mcp-bridge-" + server + "-" + HexFormat.of().toHexDigits(RANDOM.nextInt());
  }

  /** Whether a container is one of this very process. */
  boolean isOwn(Map<String, String> labels) {
    return isInScope(labels)
        && Long.toString(pid).equals(labels.get(PID))
        && started.equals(labels.get(STARTED));
  }

  /**
   * Whether a container belonged to a bridge that could be seen here, and is not there any more.
   */
  boolean isOrphan(Map<String, String> labels) {
    if (!isInScope(labels) || labels.get(PID) == null) {
      return false;
    }
    try {
      return !started(Long.parseLong(labels.get(PID))).equals(labels.get(STARTED));
    } catch (NumberFormatException e) {
      return true;
    }
  }

  private boolean isInScope(Map<String, String> labels) {
    return labels != null && scope.equals(labels.get(SCOPE));
  }

  /** In the kernel's own ticks where there are any: clocks are set. Empty for none that runs. */
  private static String started(long pid) {
    String stat = read(Path.of("/proc/" + pid + "/stat"));
    if (stat.isEmpty()) {
      return ProcessHandle.of(pid)
          .flatMap(process -> process.info().startInstant())
          .map(Instant::toString)
          .orElse("");
    }
    String[] behindName = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    boolean isDead = behindName[0].equals("Z");
    return isDead || behindName.length <= START_TICKS ? "" : behindName[START_TICKS];
  }

  private static String ownScope() {
    String boot = read(Path.of("/proc/sys/kernel/random/boot_id"));
    try {
      Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      return user + " " + boot + " " + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return System.getProperty("user.name") + " " + boot;
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
