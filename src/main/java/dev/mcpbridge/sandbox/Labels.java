package dev.mcpbridge.sandbox;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;

/**
 * How the containers of the bridge are known: whose they are, so that only what a dead bridge left
 * behind is swept away.
 *
 * @param host of the bridge
 * @param pid of the bridge
 * @param started when the bridge's process was, since process ids come again
 */
record Labels(String host, long pid, String started) {
  private static final SecureRandom RANDOM = new SecureRandom();
  static final String HOST = "dev.mcpbridge.host";
  private static final String PID = "dev.mcpbridge.pid";
  private static final String STARTED = "dev.mcpbridge.started";
  private static final String SERVER = "dev.mcpbridge.server";

  /** Of this process. */
  static Labels own() {
    ProcessHandle self = ProcessHandle.current();
    return new Labels(hostName(), self.pid(), started(self));
  }

  Map<String, String> of(String server) {
    return Map.of(HOST, host, PID, Long.toString(pid), STARTED, started, SERVER, server);
  }

  /** A name that a human can read and no other container has. */
  String name(String server) {
    return "mcp-bridge-" + server + "-" + HexFormat.of().toHexDigits(RANDOM.nextInt());
  }

  /** Whether a container belonged to a bridge of this machine that does not run any more. */
  boolean isOrphan(Map<String, String> labels) {
    if (labels == null || !host.equals(labels.get(HOST)) || labels.get(PID) == null) {
      return false;
    }
    try {
      return ProcessHandle.of(Long.parseLong(labels.get(PID)))
          .filter(bridge -> started(bridge).equals(labels.get(STARTED)))
          .isEmpty();
    } catch (NumberFormatException e) {
      return true;
    }
  }

  private static String started(ProcessHandle process) {
    return process.info().startInstant().map(Instant::toString).orElse("");
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }
}
