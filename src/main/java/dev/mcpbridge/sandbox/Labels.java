package dev.mcpbridge.sandbox;

import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.transport.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/**
 * Labels that identify the bridge process to which a container belongs, so that only containers of
 * dead bridges are removed. A bridge decides this only for processes that are certainly visible to
 * it: those of its own user, machine, boot and PID namespace. Processes of other users may be
 * hidden (proc(5), hidepid).
 *
 * @param scope the user, the machine's boot and the PID namespace
 * @param pid pid of the bridge
 * @param started start time of the bridge process, since pids are reused
 */
record Labels(String scope, long pid, String started) {
  static final String SCOPE = "dev.mcpbridge.scope";
  private static final String PID = "dev.mcpbridge.pid";
  private static final String STARTED = "dev.mcpbridge.started";
  private static final String SERVER = "dev.mcpbridge.server";

  /** The labels of this process. */
  static Labels own() {
    long pid = ProcessHandle.current().pid();
    return new Labels(ownScope(), pid, started(pid));
  }

  Map<String, String> of(String server) {
    return Map.of(SCOPE, scope, PID, Long.toString(pid), STARTED, started, SERVER, server);
  }

  /** A unique, readable container name. */
  String name(String server) {
    return "mcp-bridge-" + server + "-" + RandomIds.hex(4);
  }

  /** Whether a container belongs to this process. */
  boolean isOwn(Map<String, String> labels) {
    return isInScope(labels)
        && Long.toString(pid).equals(labels.get(PID))
        && started.equals(labels.get(STARTED));
  }

  /** Whether a container belongs to a bridge that would be visible to this one and has ended. */
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

  /** Start time, in ticks since boot if available, as clocks may be adjusted; empty if dead. */
  private static String started(long pid) {
    return ProcFs.exists()
        ? ProcFs.stat(pid)
            .filter(ProcFs.Stat::isAlive)
            .map(stat -> Long.toString(stat.startTicks()))
            .orElse("")
        : ProcessHandle.of(pid)
            .flatMap(process -> process.info().startInstant())
            .map(Instant::toString)
            .orElse("");
  }

  private static String ownScope() {
    Object user;
    try {
      user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      user = System.getProperty("user.name");
    }
    return user + " " + ProcFs.boot() + " " + ProcFs.link(Path.of("/proc/self/ns/pid"));
  }
}
