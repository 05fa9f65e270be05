package dev.mcpbridge.sandbox;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** Detection of orphaned containers. */
class LabelsTest {
  /** More than the largest pid of Linux. */
  private static final long UNUSED_PID = 1L << 23;

  private final Labels own = Labels.own();

  private Map<String, String> of(String scope, long pid, String started) {
    return new Labels(scope, pid, started).of("s");
  }

  @Test
  void containersOfADeadProcessAreOrphans() {
    assertTrue(own.isOrphan(of(own.scope(), UNUSED_PID, "1")));
    assertTrue(own.isOrphan(of(own.scope(), own.pid(), own.started() + "1")));
    assertFalse(own.isOrphan(own.of("s")));
    assertFalse(own.isOrphan(Map.of()));
  }

  @Test
  void containersOfOtherUsersOrNamespacesAreNotOrphans() {
    String[] scope = own.scope().split(" ", 2);

    assertFalse(own.isOrphan(of("another " + scope[1], UNUSED_PID, "1")));
    assertFalse(own.isOrphan(of(own.scope() + "1", UNUSED_PID, "1")));
  }
}
