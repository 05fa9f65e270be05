package dev.mcpbridge.transport;

import dev.mcpbridge.protocol.RandomIds;
import java.util.Optional;

/**
 * Identity of one run of a bridge process, with an unguessable secret.
 *
 * @param boot id of the machine's boot
 * @param namespace PID namespace in which {@code pid} is valid
 * @param start start time of the process, in ticks since boot
 * @param secret 128 random bits
 */
record BridgeRun(String boot, String namespace, long pid, long start, String secret) {
  private static final String SEPARATOR = "/";
  private static final int PARTS = 5;

  /** Creates the identity of this process, with a new secret. */
  static BridgeRun begin() {
    long pid = ProcessHandle.current().pid();
    long start = ProcFs.stat(pid).map(ProcFs.Stat::startTicks).orElse(0L);
    return new BridgeRun(ProcFs.boot(), ProcFs.pidNamespace(), pid, start, RandomIds.next());
  }

  static Optional<BridgeRun> parse(String text) {
    String[] parts = text.split(SEPARATOR);
    try {
      return parts.length == PARTS
          ? Optional.of(
              new BridgeRun(
                  parts[0], parts[1], Long.parseLong(parts[2]), Long.parseLong(parts[3]), parts[4]))
          : Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  boolean isOfSameBoot(BridgeRun other) {
    return boot.equals(other.boot);
  }

  /** Whether the PIDs of both runs belong to the same namespace. */
  boolean isInSameNamespace(BridgeRun other) {
    return isOfSameBoot(other) && namespace.equals(other.namespace);
  }

  /** Whether its process is alive; only meaningful for a run in this process's namespace. */
  boolean isAlive() {
    return ProcFs.stat(pid)
        .filter(stat -> stat.isAlive() && stat.startTicks() == start)
        .isPresent();
  }

  @Override
  public String toString() {
    return String.join(
        SEPARATOR, boot, namespace, Long.toString(pid), Long.toString(start), secret);
  }
}
