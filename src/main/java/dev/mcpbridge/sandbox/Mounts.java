package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;
import java.util.List;

/**
 * Checks the host folders of mounts again immediately before a container is created: a folder may
 * have been replaced by a link since the configuration was read. Blocks.
 */
final class Mounts {
  private Mounts() {}

  static void check(List<ContainerTarget.Mount> mounts) {
    for (ContainerTarget.Mount mount : mounts) {
      if (!isUnchanged(mount)) {
        throw new BridgeException(
            ErrorCode.INVALID_SERVER,
            mount.hostPath() + " was moved or replaced by a link after the configuration was read");
      }
    }
  }

  private static boolean isUnchanged(ContainerTarget.Mount mount) {
    try {
      return mount.hostPath().toRealPath().equals(mount.hostPath());
    } catch (IOException e) {
      return false;
    }
  }
}
