package dev.mcpbridge.sandbox;

import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.io.IOException;
import java.util.List;

/**
 * Looks once more at what is mounted, immediately before a container is made: what was a folder
 * when the configuration was read may be a link now. Blocks.
 */
final class Mounts {
  private Mounts() {}

  static void check(List<ContainerTarget.Mount> mounts) {
    for (ContainerTarget.Mount mount : mounts) {
      if (!isAsItWas(mount)) {
        throw new BridgeException(
            ErrorCode.INVALID_SERVER,
            mount.host() + " is not what it was when the configuration was read");
      }
    }
  }

  private static boolean isAsItWas(ContainerTarget.Mount mount) {
    try {
      return mount.host().toRealPath().equals(mount.host());
    } catch (IOException e) {
      return false;
    }
  }
}
