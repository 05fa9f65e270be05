package dev.mcpbridge.sandbox;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.BindOptions;
import com.github.dockerjava.api.model.BindPropagation;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.LogConfig;
import com.github.dockerjava.api.model.Mount;
import com.github.dockerjava.api.model.MountType;
import com.github.dockerjava.api.model.RestartPolicy;
import com.github.dockerjava.api.model.Ulimit;
import dev.mcpbridge.config.ContainerTarget;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What every container of the bridge is refused, and what this one is given (CIS Docker Benchmark
 * 4.1, 5.2 to 5.31). Nothing that an image says of itself is asked; the folders for which it wants
 * volumes become small file systems in memory, since a volume would be a way around the read-only
 * root.
 */
final class Profile {
  private static final long OPEN_FILES = 1024;
  private static final long VOLUME_BYTES = 16 << 20;
  private static final String CLOSED = "ro,noexec,nosuid,nodev,notmpcopyup,size=65536";
  private static final String OPEN = "rw,noexec,nosuid,nodev,mode=1777";
  private static final double NANOS = 1e9;

  /** Without being asked, at least (containers.conf(5), {@code default_capabilities}). */
  private static final List<Capability> GIVEN_BY_PODMAN =
      List.of(
          Capability.CHOWN,
          Capability.DAC_OVERRIDE,
          Capability.FOWNER,
          Capability.FSETID,
          Capability.KILL,
          Capability.NET_BIND_SERVICE,
          Capability.SETFCAP,
          Capability.SETGID,
          Capability.SETPCAP,
          Capability.SETUID,
          Capability.SYS_CHROOT);

  private Profile() {}

  /**
   * @param volumes folders for which the image wants one
   */
  static HostConfig of(ContainerTarget container, Set<String> volumes, EngineKind engine) {
    ContainerTarget.Resources resources = container.resources();
    HostConfig config =
        HostConfig.newHostConfig()
            .withPrivileged(false)
            .withCapDrop(Capability.ALL)
            .withSecurityOpts(List.of("no-new-privileges"))
            .withReadonlyRootfs(true)
            .withTmpFs(memoryFolders(container, volumes, engine))
            .withMounts(container.mounts().stream().map(Profile::mount).toList())
            .withMemory(resources.memory())
            .withMemorySwap(resources.memory())
            .withNanoCPUs(Math.round(resources.cpus() * NANOS))
            .withPidsLimit((long) resources.pids())
            .withUlimits(
                List.of(new Ulimit("nofile", OPEN_FILES, OPEN_FILES), new Ulimit("core", 0L, 0L)))
            .withNetworkMode(container.network())
            .withIpcMode("private")
            .withInit(true)
            .withAutoRemove(false)
            .withRestartPolicy(RestartPolicy.noRestart())
            .withPublishAllPorts(false)
            .withLogConfig(new LogConfig(LogConfig.LoggingType.NONE));
    return container.runtime() == null ? config : config.withRuntime(container.runtime());
  }

  /** Where a container is not what was asked for. */
  static List<String> differences(
      HostConfig asked, String user, EngineKind engine, InspectContainerResponse container) {
    HostConfig given = container.getHostConfig();
    Map<String, Object[]> pairs = new LinkedHashMap<>();
    pairs.put("user", new Object[] {user, container.getConfig().getUser()});
    pairs.put("privileged", new Object[] {asked.getPrivileged(), given.getPrivileged()});
    pairs.put("capabilities", texts(asked.getCapDrop(), dropped(given.getCapDrop(), engine)));
    pairs.put("more capabilities", texts(asked.getCapAdd(), added(given.getCapAdd())));
    pairs.put("security options", texts(asked.getSecurityOpts(), given.getSecurityOpts()));
    pairs.put(
        "read-only root", new Object[] {asked.getReadonlyRootfs(), given.getReadonlyRootfs()});
    pairs.put("network", new Object[] {asked.getNetworkMode(), given.getNetworkMode()});
    pairs.put("memory", new Object[] {asked.getMemory(), given.getMemory()});
    pairs.put("swap", new Object[] {asked.getMemorySwap(), given.getMemorySwap()});
    pairs.put("processors", new Object[] {asked.getNanoCPUs(), given.getNanoCPUs()});
    pairs.put("processes", new Object[] {asked.getPidsLimit(), given.getPidsLimit()});
    return pairs.entrySet().stream()
        .filter(pair -> !Objects.equals(pair.getValue()[0], pair.getValue()[1]))
        .map(p -> p.getKey() + ": " + p.getValue()[0] + " was asked for, is " + p.getValue()[1])
        .toList();
  }

  /** Podman names what it would have given and does not. */
  private static Capability[] dropped(Capability[] dropped, EngineKind engine) {
    boolean isAll =
        engine == EngineKind.PODMAN
            && dropped != null
            && List.of(dropped).containsAll(GIVEN_BY_PODMAN);
    return isAll ? new Capability[] {Capability.ALL} : dropped;
  }

  private static Capability[] added(Capability[] added) {
    return added == null || added.length == 0 ? null : added;
  }

  private static Object[] texts(Object[] one, Object[] other) {
    return new Object[] {Arrays.toString(one), Arrays.toString(other)};
  }

  private static Object[] texts(List<?> one, List<?> other) {
    return new Object[] {String.valueOf(one), String.valueOf(other)};
  }

  private static Map<String, String> memoryFolders(
      ContainerTarget container, Set<String> volumes, EngineKind engine) {
    String writable = OPEN + engine.owner(container.user()) + ",size=";
    Map<String, String> folders = new LinkedHashMap<>();
    engine.opened().forEach(folder -> folders.put(folder, CLOSED));
    volumes.stream()
        .map(volume -> Path.of(volume).normalize().toString())
        .forEach(volume -> folders.put(volume, writable + VOLUME_BYTES));
    container.mounts().forEach(mount -> folders.remove(mount.inside()));
    container.resources().tmpfs().forEach((folder, size) -> folders.put(folder, writable + size));
    return folders;
  }

  private static Mount mount(ContainerTarget.Mount mount) {
    return new Mount()
        .withType(MountType.BIND)
        .withSource(mount.host().toString())
        .withTarget(mount.inside())
        .withReadOnly(!mount.writable())
        .withBindOptions(new BindOptions().withPropagation(BindPropagation.R_PRIVATE));
  }
}
