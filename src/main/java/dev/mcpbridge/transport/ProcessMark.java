package dev.mcpbridge.transport;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An environment variable of every child, inherited by its descendants, that identifies the run of
 * the bridge and the child. It finds grandchildren that left their process group and the children
 * of a bridge that was killed. A process is killed for its mark only if the run is the current one,
 * or was recorded by a bridge of this user ({@link RunFiles}).
 *
 * @param child sequence number of the child within its run
 */
record ProcessMark(BridgeRun bridgeRun, long child) {
  static final String VARIABLE = "MCP_BRIDGE_CHILD";

  private static final AtomicLong CHILDREN = new AtomicLong();

  static ProcessMark next(BridgeRun own) {
    return new ProcessMark(own, CHILDREN.incrementAndGet());
  }

  /** The mark of a process; empty if it has none or cannot be read. */
  static Optional<ProcessMark> of(long pid) {
    return ProcFs.variable(pid, VARIABLE).flatMap(ProcessMark::parse);
  }

  static Optional<ProcessMark> parse(String value) {
    int end = value.lastIndexOf('/');
    if (end < 0) {
      return Optional.empty();
    }
    try {
      long child = Long.parseLong(value.substring(end + 1));
      return BridgeRun.parse(value.substring(0, end))
          .map(bridgeRun -> new ProcessMark(bridgeRun, child));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return bridgeRun + "/" + child;
  }
}
