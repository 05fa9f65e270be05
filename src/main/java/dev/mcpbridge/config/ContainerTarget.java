package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A server in a container, with everything that it is granted. What containers are never granted
 * (capabilities, a writable root file system, the host's namespaces) is not configurable.
 *
 * @param command the program and its arguments; empty for the image's own
 * @param network {@code none}, or a network created by the operator
 * @param user numeric user and group, neither of them root
 * @param runtime of the engine; null for its default
 * @param startMillis start timeout
 */
public record ContainerTarget(
    String image,
    List<String> command,
    Map<String, Secret> environment,
    List<Mount> mounts,
    Resources resources,
    String network,
    String user,
    String runtime,
    long startMillis)
    implements UpstreamTarget {

  public ContainerTarget {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    mounts = List.copyOf(mounts);
  }

  @Override
  public List<String> secrets() {
    return Secret.in(environment);
  }

  /**
   * A folder or file of the host.
   *
   * @param hostPath its real path, without symbolic links
   * @param containerPath its path in the container
   */
  public record Mount(Path hostPath, String containerPath, boolean writable) {}

  /**
   * Resource limits.
   *
   * @param memory bytes, including swap
   * @param cpus number of processors, may be a fraction
   * @param pids number of processes and threads
   * @param tmpfs bytes by folder
   */
  public record Resources(long memory, double cpus, int pids, Map<String, Long> tmpfs) {
    public Resources {
      tmpfs = Map.copyOf(tmpfs);
    }
  }
}
