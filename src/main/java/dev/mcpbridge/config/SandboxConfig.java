package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.nio.file.Path;
import java.util.List;

/**
 * The container engine, and what entries may ask of it.
 *
 * @param engine its address, {@code unix://} or {@code tcp://}
 * @param ceiling for entries over the API; those of the file are the operator's own
 * @param allowedImages names and globs; null where any image of the engine may be used
 * @param allowedMounts folders of the host below which mounts are; null for none over the API and
 *     any in the file
 * @param allowedNetworks that entries over the API may name, beside none
 */
public record SandboxConfig(
    String engine,
    Ceiling ceiling,
    List<Glob> allowedImages,
    List<Path> allowedMounts,
    List<String> allowedNetworks) {

  /**
   * The most that one entry may have.
   *
   * @param memory bytes of one container
   * @param tmpfs bytes of all folders of one container
   * @param pool containers
   */
  record Ceiling(long memory, double cpus, int pids, long tmpfs, int pool) {}

  boolean allowsImage(String image) {
    return allowedImages == null || allowedImages.stream().anyMatch(glob -> glob.matches(image));
  }
}
