package dev.mcpbridge.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the {@code docker} key of an entry. Refuses what containers are never granted before
 * anything is started. Stateless.
 */
final class ContainerEntryReader {
  private ContainerEntryReader() {}

  /**
   * @param host how the entry would be started on this machine
   * @param startMillis start timeout
   */
  static SandboxPool read(
      Section docker, ProcessTarget host, long startMillis, SandboxConfig limits) {
    Section pool = docker.section("pool");
    int min = pool.integer("min");
    int max = pool.integer("max", Math.max(pool.integer("max"), min));
    if (max < min) {
      pool.report("max", "expected at least pool.min, " + min + ", found " + max);
    }
    if (docker.isFromApi() && max > limits.entryLimits().pool()) {
      pool.report("max", "sandbox.limits.pool allows at most " + limits.entryLimits().pool());
    }
    ContainerTarget container =
        new ContainerTarget(
            image(docker, limits),
            command(docker, host),
            environment(docker, host),
            VolumeReader.read(docker, limits),
            resources(docker, limits.entryLimits()),
            network(docker, limits),
            user(docker),
            runtime(docker),
            startMillis);
    return new SandboxPool(
        container, docker.text("scope").equals("call"), min, max, docker.seconds("timeout"));
  }

  private static String image(Section docker, SandboxConfig limits) {
    String image = docker.text("image", "none");
    if (image.startsWith("-") || image.chars().anyMatch(c -> c <= ' ')) {
      docker.report("image", "not the name of an image");
    } else if (!limits.allowsImage(image)) {
      docker.report("image", "not listed in sandbox.allowedImages");
    }
    return image;
  }

  private static List<String> command(Section docker, ProcessTarget host) {
    return docker.has("command") ? docker.texts("command") : host.argv();
  }

  private static Map<String, Secret> environment(Section docker, ProcessTarget host) {
    Map<String, Secret> environment = new LinkedHashMap<>(host.environment());
    environment.putAll(ServerEntryReader.variables(docker));
    return environment;
  }

  private static ContainerTarget.Resources resources(
      Section docker, SandboxConfig.EntryLimits entryLimits) {
    long memory = docker.bytes("memory");
    double cpus = docker.number("cpus");
    int pids = docker.integer("pids");
    Map<String, Long> tmpfs = tmpfs(docker);
    if (docker.isFromApi()) {
      long total = tmpfs.values().stream().mapToLong(Long::longValue).sum();
      refuseAbove(docker, "memory", memory, entryLimits.memory());
      refuseAbove(docker, "cpus", cpus, entryLimits.cpus());
      refuseAbove(docker, "pids", pids, entryLimits.pids());
      refuseAbove(docker, "tmpfs", total, entryLimits.tmpfs());
    }
    return new ContainerTarget.Resources(memory, cpus, pids, tmpfs);
  }

  private static void refuseAbove(Section docker, String key, double requested, double allowed) {
    if (requested > allowed) {
      docker.report(key, "more than sandbox.limits." + key + " allows");
    }
  }

  /** Bytes by folder; a single size applies to {@code /tmp}. */
  private static Map<String, Long> tmpfs(Section docker) {
    if (!docker.node().path("tmpfs").isObject()) {
      return Map.of("/tmp", docker.bytes("tmpfs"));
    }
    Map<String, Long> sizes = new LinkedHashMap<>();
    Section folders = docker.section("tmpfs");
    for (String folder : folders.names()) {
      if (!VolumeReader.isMountPoint(folder)) {
        folders.report(folder, "expected a path in the container");
      }
      sizes.put(folder, folders.bytes(folder));
    }
    return sizes;
  }

  private static String runtime(Section docker) {
    String runtime = docker.text("runtime");
    if (runtime != null && docker.isFromApi()) {
      docker.report("runtime", "only the configuration file may set it");
    }
    return runtime;
  }

  private static String network(Section docker, SandboxConfig limits) {
    String network = docker.text("network");
    boolean isShared = List.of("host", "bridge", "default").contains(network);
    if (isShared || network.startsWith("container:") || network.isBlank()) {
      docker.report(
          "network",
          "\"" + network + "\" is not isolated: expected none or a user-defined network");
    }
    boolean isListed = network.equals("none") || limits.allowedNetworks().contains(network);
    if (docker.isFromApi() && !isListed) {
      docker.report("network", "not listed in sandbox.allowedNetworks");
    }
    return network;
  }

  /** Adds a group if it is missing, since the user would otherwise be in root's group. */
  private static String user(Section docker) {
    String user = docker.text("user");
    return user.contains(":") ? user : user + ":" + user;
  }
}
