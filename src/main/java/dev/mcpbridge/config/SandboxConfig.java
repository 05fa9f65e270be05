package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.nio.file.Path;
import java.util.List;

/**
 * The container engine, and what entries may use of it.
 *
 * @param engine its address, {@code unix://} or {@code tcp://}
 * @param entryLimits limits for entries from the API; those of the file are not limited
 * @param allowedImages names and globs; null if any image of the engine may be used
 * @param allowedMounts folders of the host to which mounts are restricted; null for no mounts from
 *     the API and any from the file
 * @param allowedNetworks networks that entries from the API may use besides {@code none}
 */
public record SandboxConfig(
    String engine,
    EntryLimits entryLimits,
    List<Glob> allowedImages,
    List<Path> allowedMounts,
    List<String> allowedNetworks) {

  /**
   * Limits for one entry.
   *
   * @param memory bytes of one container
   * @param tmpfs bytes of all folders of one container
   * @param pool number of containers
   */
  record EntryLimits(long memory, double cpus, int pids, long tmpfs, int pool) {}

  boolean allowsImage(String image) {
    return allowedImages == null || allowedImages.stream().anyMatch(glob -> glob.matches(image));
  }
}
