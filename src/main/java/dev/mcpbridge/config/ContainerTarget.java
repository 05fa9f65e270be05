package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A server in a container, and all that it is given. What no container of the bridge ever has
 * (capabilities, a writable root, the host's namespaces) is not configuration.
 *
 * @param command the program and its arguments; empty for the image's own
 * @param network {@code none}, or one of the operator's
 * @param user numeric user and group, neither of them root
 * @param runtime of the engine, null for its default
 * @param startMillis how long its start may take
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

  /**
   * A folder or file of the host.
   *
   * @param host without symbolic links
   */
  public record Mount(Path host, String inside, boolean writable) {}

  /**
   * What it may use.
   *
   * @param memory bytes, swap included
   * @param cpus processors, fractions allowed
   * @param pids processes and threads
   * @param tmpfs bytes by folder
   */
  public record Resources(long memory, double cpus, int pids, Map<String, Long> tmpfs) {
    public Resources {
      tmpfs = Map.copyOf(tmpfs);
    }
  }
}
