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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The security profile and resource limits of a container (CIS Docker Benchmark 4.1, 5.2 to 5.31).
 * Settings of the image are ignored; the folders that it declares as volumes become small tmpfs
 * mounts, since a volume would bypass the read-only root.
 */
final class Profile {
  private static final long MAX_OPEN_FILES = 1024;
  private static final long VOLUME_BYTES = 16 << 20;
  private static final String CLOSED = "ro,noexec,nosuid,nodev,notmpcopyup,size=65536";
  private static final String OPEN = "rw,noexec,nosuid,nodev,mode=1777";
  private static final double NANOS = 1e9;

  /** Minimal default of Podman (containers.conf(5), {@code default_capabilities}). */
  private static final List<Capability> PODMAN_DEFAULTS =
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
   * The host configuration of a container.
   *
   * @param volumes folders that the image declares as volumes
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
                List.of(
                    new Ulimit("nofile", MAX_OPEN_FILES, MAX_OPEN_FILES),
                    new Ulimit("core", 0L, 0L)))
            .withNetworkMode(container.network())
            .withIpcMode("private")
            .withInit(true)
            .withAutoRemove(false)
            .withRestartPolicy(RestartPolicy.noRestart())
            .withPublishAllPorts(false)
            .withLogConfig(new LogConfig(LogConfig.LoggingType.NONE));
    return container.runtime() == null ? config : config.withRuntime(container.runtime());
  }

  /** Differences between the requested and the actual profile; empty if none. */
  static List<String> differences(
      HostConfig requested, String user, EngineKind engine, InspectContainerResponse container) {
    HostConfig actual = container.getHostConfig();
    return Stream.of(
            difference("user", user, container.getConfig().getUser()),
            difference("privileged", requested.getPrivileged(), actual.getPrivileged()),
            difference(
                "capabilities",
                Arrays.toString(requested.getCapDrop()),
                Arrays.toString(dropped(actual.getCapDrop(), engine))),
            difference(
                "added capabilities",
                Arrays.toString(requested.getCapAdd()),
                Arrays.toString(added(actual.getCapAdd()))),
            difference("security options", requested.getSecurityOpts(), actual.getSecurityOpts()),
            difference("read-only root", requested.getReadonlyRootfs(), actual.getReadonlyRootfs()),
            difference("network", requested.getNetworkMode(), actual.getNetworkMode()),
            difference("memory", requested.getMemory(), actual.getMemory()),
            difference("swap", requested.getMemorySwap(), actual.getMemorySwap()),
            difference("processors", requested.getNanoCPUs(), actual.getNanoCPUs()),
            difference("processes", requested.getPidsLimit(), actual.getPidsLimit()))
        .flatMap(Optional::stream)
        .toList();
  }

  private static Optional<String> difference(String name, Object requested, Object actual) {
    return Objects.equals(requested, actual)
        ? Optional.empty()
        : Optional.of(name + ": " + requested + " requested, but is " + actual);
  }

  /** Podman reports the dropped defaults instead of ALL. */
  private static Capability[] dropped(Capability[] dropped, EngineKind engine) {
    boolean isAll =
        engine == EngineKind.PODMAN
            && dropped != null
            && List.of(dropped).containsAll(PODMAN_DEFAULTS);
    return isAll ? new Capability[] {Capability.ALL} : dropped;
  }

  private static Capability[] added(Capability[] added) {
    return added == null || added.length == 0 ? null : added;
  }

  private static Map<String, String> memoryFolders(
      ContainerTarget container, Set<String> volumes, EngineKind engine) {
    String writable = OPEN + engine.ownerOptions(container.user()) + ",size=";
    Map<String, String> folders = new LinkedHashMap<>();
    engine.writableFolders().forEach(folder -> folders.put(folder, CLOSED));
    volumes.stream()
        .map(volume -> Path.of(volume).normalize().toString())
        .forEach(volume -> folders.put(volume, writable + VOLUME_BYTES));
    container.mounts().forEach(mount -> folders.remove(mount.containerPath()));
    container.resources().tmpfs().forEach((folder, size) -> folders.put(folder, writable + size));
    return folders;
  }

  private static Mount mount(ContainerTarget.Mount mount) {
    return new Mount()
        .withType(MountType.BIND)
        .withSource(mount.hostPath().toString())
        .withTarget(mount.containerPath())
        .withReadOnly(!mount.writable())
        .withBindOptions(new BindOptions().withPropagation(BindPropagation.R_PRIVATE));
  }
}
