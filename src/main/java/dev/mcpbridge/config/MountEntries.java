package dev.mcpbridge.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Understands {@code docker.volumes}: what of the host a container may see. Stateless. */
final class MountEntries {
  private static final List<Path> NEVER =
      List.of("/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/root").stream()
          .map(Path::of)
          .toList();
  private static final String SHAPE = "expected /host/path:/container/path, with :ro or :rw";

  private MountEntries() {}

  static List<ContainerTarget.Mount> read(
      Section docker, ServerEntryReader.Origin origin, SandboxConfig limits) {
    List<String> volumes = docker.texts("volumes", 100);
    List<ContainerTarget.Mount> mounts = new ArrayList<>();
    for (int i = 0; i < volumes.size(); i++) {
      String refusal = add(volumes.get(i), mounts, origin, limits);
      if (refusal != null) {
        docker.complain("volumes[" + i + "]", refusal);
      }
    }
    return mounts;
  }

  /** Whether a path in a container may be mounted over. */
  static boolean isInside(String path) {
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

  /** Why it is refused; null where it is added. */
  private static String add(
      String volume,
      List<ContainerTarget.Mount> mounts,
      ServerEntryReader.Origin origin,
      SandboxConfig limits) {
    String[] parts = volume.split(":", -1);
    boolean shaped =
        (parts.length == 2 || parts.length == 3 && List.of("ro", "rw").contains(parts[2]))
            && parts[0].startsWith("/")
            && !parts[0].contains("..")
            && parts[0].indexOf('\0') < 0
            && isInside(parts[1]);
    if (!shaped) {
      return SHAPE;
    }
    Path named = Path.of(parts[0]);
    if (isForbidden(named, limits.engine())) {
      return named + " is never mounted";
    }
    Path real;
    try {
      real = named.toRealPath();
    } catch (IOException e) {
      return "no such file or folder: " + named;
    }
    if (isForbidden(real, limits.engine())) {
      return named + " leads to " + real + ", which is never mounted";
    }
    if (!isAllowed(real, origin, limits.allowedMounts())) {
      return real + " is not below one of sandbox.allowedMounts";
    }
    boolean isWritable = parts.length == 3 && parts[2].equals("rw");
    if (mounts.stream().anyMatch(other -> overlaps(other, real, isWritable))) {
      return real + " overlaps another volume that can be written";
    }
    mounts.add(new ContainerTarget.Mount(real, parts[1], isWritable));
    return null;
  }

  private static boolean isAllowed(Path real, ServerEntryReader.Origin origin, List<Path> roots) {
    return roots == null
        ? origin == ServerEntryReader.Origin.FILE
        : roots.stream().anyMatch(real::startsWith);
  }

  /** What is written through one could be a link when the other is mounted. */
  private static boolean overlaps(ContainerTarget.Mount other, Path real, boolean isWritable) {
    boolean nested = real.startsWith(other.host()) || other.host().startsWith(real);
    return nested && (isWritable || other.writable()) && !real.equals(other.host());
  }

  /** Neither what makes a host, nor the engine's socket, nor a folder that holds any of it. */
  private static boolean isForbidden(Path path, String engine) {
    Path normal = path.normalize();
    boolean holdsSocket =
        engine.startsWith("unix://") && Path.of(engine.substring(7)).startsWith(normal);
    return holdsSocket
        || normal.toString().contains("docker.sock")
        || NEVER.stream().anyMatch(never -> normal.startsWith(never) || never.startsWith(normal));
  }
}
