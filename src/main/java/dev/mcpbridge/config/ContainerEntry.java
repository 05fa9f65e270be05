package dev.mcpbridge.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Understands the {@code docker} key of an entry, and refuses what no container is granted before
 * anything is started. Stateless.
 */
final class ContainerEntry {
  private static final List<String> KEYS =
      List.of(
          "image", "volumes", "network", "command", "memory", "cpus", "pids", "tmpfs", "user",
          "env", "runtime", "scope", "pool", "timeout");

  private ContainerEntry() {}

  /**
   * @param host how the entry would start on this machine
   * @param startMillis how long that may take
   */
  static SandboxPool read(
      Section docker,
      ProcessTarget host,
      long startMillis,
      ServerEntryReader.Origin origin,
      SandboxConfig limits) {
    docker.allowOnly(KEYS);
    Section pool = docker.section("pool");
    pool.allowOnly(List.of("min", "max"));
    int min = pool.integer("min", 1, 0, 1000);
    int max = pool.integer("max", Math.max(4, min), Math.max(1, min), 1000);
    if (origin == ServerEntryReader.Origin.API && max > limits.ceiling().pool()) {
      pool.complain("max", "the operator allows " + limits.ceiling().pool());
    }
    ContainerTarget container =
        new ContainerTarget(
            image(docker, limits),
            command(docker, host),
            environment(docker, host),
            MountEntries.read(docker, origin, limits),
            resources(docker, origin, limits.ceiling()),
            network(docker, origin, limits),
            user(docker),
            runtime(docker, origin),
            startMillis);
    return new SandboxPool(
        container,
        docker.oneOf("scope", "call", "call", "server").equals("call"),
        min,
        max,
        docker.seconds("timeout", 0, 0.1, 86_400));
  }

  private static String image(Section docker, SandboxConfig limits) {
    String image = docker.text("image", "");
    if (image.isBlank()) {
      docker.complain("image", "a container needs its image");
    } else if (image.startsWith("-") || image.chars().anyMatch(c -> c <= ' ')) {
      docker.complain("image", "not the name of an image");
    } else if (!limits.allowsImage(image)) {
      docker.complain("image", "not one of sandbox.allowedImages");
    }
    return image;
  }

  private static List<String> command(Section docker, ProcessTarget host) {
    return docker.has("command") ? docker.texts("command", 1000) : host.argv();
  }

  private static Map<String, Secret> environment(Section docker, ProcessTarget host) {
    Map<String, Secret> environment = new LinkedHashMap<>(host.environment());
    docker
        .textsByName("env")
        .forEach(
            (name, value) -> {
              if (!name.matches("[^=\\s\\p{Cntrl}]+") || value.indexOf('\0') >= 0) {
                docker.complain("env." + name, "not a variable that a process can have");
              }
              environment.put(name, new Secret(value));
            });
    return environment;
  }

  private static ContainerTarget.Resources resources(
      Section docker, ServerEntryReader.Origin origin, SandboxConfig.Ceiling ceiling) {
    long memory = docker.bytes("memory", "512m", 6 << 20, 1L << 40);
    double cpus = docker.number("cpus", 1, 0.01, 1024);
    int pids = docker.integer("pids", 128, 1, 1 << 20);
    Map<String, Long> tmpfs = tmpfs(docker);
    if (origin == ServerEntryReader.Origin.API) {
      long all = tmpfs.values().stream().mapToLong(Long::longValue).sum();
      refuseAbove(docker, "memory", memory, ceiling.memory());
      refuseAbove(docker, "cpus", cpus, ceiling.cpus());
      refuseAbove(docker, "pids", pids, ceiling.pids());
      refuseAbove(docker, "tmpfs", all, ceiling.tmpfs());
    }
    return new ContainerTarget.Resources(memory, cpus, pids, tmpfs);
  }

  private static void refuseAbove(Section docker, String key, double asked, double allowed) {
    if (asked > allowed) {
      docker.complain(key, "more than sandbox.limits." + key + " allows");
    }
  }

  /** One size for {@code /tmp}, or sizes by folder. */
  private static Map<String, Long> tmpfs(Section docker) {
    if (!docker.node().path("tmpfs").isObject()) {
      return Map.of("/tmp", docker.bytes("tmpfs", "64m", 4096, 1L << 40));
    }
    Map<String, Long> sizes = new LinkedHashMap<>();
    Section folders = docker.section("tmpfs");
    folders.each(
        (folder, size) -> {
          if (!MountEntries.isInside(folder)) {
            folders.complain(folder, "expected a path in the container");
          }
          sizes.put(folder, folders.bytes(folder, "64m", 4096, 1L << 40));
        });
    return sizes;
  }

  private static String runtime(Section docker, ServerEntryReader.Origin origin) {
    String runtime = docker.text("runtime", null);
    if (runtime != null && origin == ServerEntryReader.Origin.API) {
      docker.complain("runtime", "only the configuration file may set it");
    }
    return runtime;
  }

  private static String network(
      Section docker, ServerEntryReader.Origin origin, SandboxConfig limits) {
    String network = docker.text("network", "none");
    List<String> shared = new ArrayList<>(List.of("host", "bridge", "default"));
    if (shared.contains(network) || network.startsWith("container:") || network.isBlank()) {
      docker.complain(
          "network", "\"" + network + "\" is not isolated: none, or a network made for it");
    }
    boolean isListed = network.equals("none") || limits.allowedNetworks().contains(network);
    if (origin == ServerEntryReader.Origin.API && !isListed) {
      docker.complain("network", "not one of sandbox.allowedNetworks");
    }
    return network;
  }

  /** A user without a group would be in root's. */
  private static String user(Section docker) {
    String user = docker.text("user", "65534:65534");
    if (!user.matches("[1-9]\\d{0,9}(:[1-9]\\d{0,9})?")) {
      docker.complain("user", "expected numbers, user or user:group, and not root's");
    }
    return user.contains(":") ? user : user + ":" + user;
  }
}
