package dev.mcpbridge.sandbox;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which containers are taken for those of a dead bridge. */
class LabelsTest {
  /** More than the largest pid of Linux. */
  private static final long NOBODY = 1L << 23;

  private final Labels own = Labels.own();

  private Map<String, String> of(String scope, long pid, String started) {
    return new Labels(scope, pid, started).of("s");
  }

  @Test
  void thoseOfAProcessThatIsNotThereAnyMore() {
    assertTrue(own.isOrphan(of(own.scope(), NOBODY, "1")));
    assertTrue(own.isOrphan(of(own.scope(), own.pid(), own.started() + "1")));
    assertFalse(own.isOrphan(own.of("s")));
    assertFalse(own.isOrphan(Map.of()));
  }

  @Test
  void notThoseOfAnotherUserOrNamespaceWhoseProcessesMayBeHidden() {
    String[] scope = own.scope().split(" ", 2);

    assertFalse(own.isOrphan(of("another " + scope[1], NOBODY, "1")));
    assertFalse(own.isOrphan(of(own.scope() + "1", NOBODY, "1")));
  }
}
