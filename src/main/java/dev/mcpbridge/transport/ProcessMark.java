package dev.mcpbridge.transport;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A variable in the environment of every child, inherited by all that it starts: it tells which run
 * of which bridge, and which child. So a grandchild that left its process group is still found, and
 * so are the children of a bridge that was killed. A mark alone ends nothing: its life has to be
 * this bridge's own, or one that a bridge of this user has written down ({@link Lives}).
 *
 * @param child counts the children of this bridge
 */
record ProcessMark(BridgeRun bridgeRun, long child) {
  static final String VARIABLE = "MCP_BRIDGE_CHILD";

  private static final AtomicLong CHILDREN = new AtomicLong();

  static ProcessMark next(BridgeRun own) {
    return new ProcessMark(own, CHILDREN.incrementAndGet());
  }

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
