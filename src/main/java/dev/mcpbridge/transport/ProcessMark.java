package dev.mcpbridge.transport;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A variable in the environment of every child, inherited by all that it starts: it tells which
 * bridge, which life of it, and which child. So a grandchild that left its process group is still
 * found, and so are the children of a bridge that was killed.
 *
 * @param bridge process id of the bridge
 * @param bridgeStart its start in ticks since boot
 * @param child counts the children of this bridge
 */
record ProcessMark(long bridge, long bridgeStart, long child) {
  static final String VARIABLE = "MCP_BRIDGE_CHILD";

  private static final AtomicLong CHILDREN = new AtomicLong();

  static ProcessMark next() {
    long pid = ProcessHandle.current().pid();
    long start = ProcFs.stat(pid).map(ProcFs.Stat::startTicks).orElse(0L);
    return new ProcessMark(pid, start, CHILDREN.incrementAndGet());
  }

  static Optional<ProcessMark> of(long pid) {
    return ProcFs.variable(pid, VARIABLE).flatMap(ProcessMark::parse);
  }

  boolean isOfSameBridge(ProcessMark other) {
    return bridge == other.bridge && bridgeStart == other.bridgeStart;
  }

  /** Whether the bridge that set the mark still lives. */
  boolean isOwned() {
    return ProcFs.stat(bridge)
        .filter(stat -> stat.isAlive() && stat.startTicks() == bridgeStart)
        .isPresent();
  }

  private static Optional<ProcessMark> parse(String value) {
    String[] parts = value.split("-");
    try {
      return parts.length == 3
          ? Optional.of(
              new ProcessMark(
                  Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2])))
          : Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return bridge + "-" + bridgeStart + "-" + child;
  }
}
