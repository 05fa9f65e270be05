package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The folder of a process's own control group. */
class ControlGroupTest {
  private static final String V2 =
      "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
          + "31 24 0:27 %s /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  private static final String BOTH = "4:memory:/a\n0::/user.slice/a.scope\n";

  @Test
  void isBelowTheMountPoint() {
    assertEquals(
        Optional.of(Path.of("/sys/fs/cgroup/user.slice/a.scope")),
        ControlGroup.path(V2.formatted("/"), BOTH));
  }

  @Test
  void isRelativeToTheMountedSubtree() {
    assertEquals(
        Optional.of(Path.of("/sys/fs/cgroup/a.scope")),
        ControlGroup.path(V2.formatted("/user.slice"), BOTH));
    assertEquals(Optional.empty(), ControlGroup.path(V2.formatted("/user.sl"), BOTH));
  }

  @Test
  void isEmptyWithoutCgroupV2() {
    assertEquals(Optional.empty(), ControlGroup.path(V2.formatted("/"), "4:memory:/a\n"));
    assertEquals(
        Optional.empty(), ControlGroup.path("24 1 8:1 / / rw - ext4 /dev/sda1 rw\n", BOTH));
  }
}
