package dev.mcpbridge.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads {@code docker.volumes}: the paths of the host that a container may see. Stateless. */
final class VolumeReader {
  private static final List<Path> SYSTEM_FOLDERS =
      List.of("/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/root").stream()
          .map(Path::of)
          .toList();
  private static final String FORMAT = "expected /host/path:/container/path, with :ro or :rw";

  private VolumeReader() {}

  static List<ContainerTarget.Mount> read(Section docker, SandboxConfig limits) {
    boolean anyByDefault = limits.allowedMounts() == null && !docker.isFromApi();
    List<String> volumes = docker.texts("volumes");
    List<ContainerTarget.Mount> mounts = new ArrayList<>();
    for (int i = 0; i < volumes.size(); i++) {
      String refusal = add(volumes.get(i), mounts, anyByDefault, limits);
      if (refusal != null) {
        docker.report("volumes[" + i + "]", refusal);
      }
    }
    return mounts;
  }

  /** Whether a path may be a mount point in a container. */
  static boolean isMountPoint(String path) {
    if (path.indexOf('\0') >= 0) {
      return false;
    }
    Path inside = Path.of(path);
    return inside.isAbsolute()
        && inside.normalize().toString().equals(path)
        && inside.getNameCount() > 0
        && !path.contains(":")
        && !path.contains(",")
        && !inside.startsWith("/proc")
        && !inside.startsWith("/sys")
        && !inside.startsWith("/dev");
  }

  /** Adds a volume. Returns null, or the reason if the volume is refused. */
  private static String add(
      String volume,
      List<ContainerTarget.Mount> mounts,
      boolean anyByDefault,
      SandboxConfig limits) {
    String[] parts = volume.split(":", -1);
    boolean isWellFormed =
        (parts.length == 2 || parts.length == 3 && List.of("ro", "rw").contains(parts[2]))
            && parts[0].startsWith("/")
            && !parts[0].contains("..")
            && parts[0].indexOf('\0') < 0
            && isMountPoint(parts[1]);
    if (!isWellFormed) {
      return FORMAT;
    }
    Path hostPath = Path.of(parts[0]);
    if (isForbidden(hostPath, limits.engine())) {
      return hostPath + " is never mounted";
    }
    Path real;
    try {
      real = hostPath.toRealPath();
    } catch (IOException e) {
      return "no such file or folder: " + hostPath;
    }
    if (isForbidden(real, limits.engine())) {
      return hostPath + " resolves to " + real + ", which is never mounted";
    }
    if (!anyByDefault && !isAllowed(real, limits.allowedMounts())) {
      return real + " is not below one of sandbox.allowedMounts";
    }
    boolean isWritable = parts.length == 3 && parts[2].equals("rw");
    if (mounts.stream().anyMatch(other -> overlaps(other, real, isWritable))) {
      return real + " overlaps another volume, and one of them is writable";
    }
    mounts.add(new ContainerTarget.Mount(real, parts[1], isWritable));
    return null;
  }

  private static boolean isAllowed(Path real, List<Path> roots) {
    return roots != null && roots.stream().anyMatch(real::startsWith);
  }

  /** A link written through one volume could be followed when the other one is mounted. */
  private static boolean overlaps(ContainerTarget.Mount other, Path real, boolean isWritable) {
    boolean nested = real.startsWith(other.hostPath()) || other.hostPath().startsWith(real);
    return nested && (isWritable || other.writable()) && !real.equals(other.hostPath());
  }

  /** Whether a path is, contains or is inside a system folder, or holds the engine's socket. */
  private static boolean isForbidden(Path path, String engine) {
    Path normal = path.normalize();
    boolean holdsSocket =
        engine.startsWith("unix://") && Path.of(engine.substring(7)).startsWith(normal);
    return holdsSocket
        || normal.toString().contains("docker.sock")
        || SYSTEM_FOLDERS.stream()
            .anyMatch(folder -> normal.startsWith(folder) || folder.startsWith(normal));
  }
}
