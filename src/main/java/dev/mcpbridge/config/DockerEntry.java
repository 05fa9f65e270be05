package dev.mcpbridge.config;

import java.util.List;

/** Refuses what a container profile never grants, before anything is started. Stateless. */
final class DockerEntry {
  private static final List<String> KEYS =
      List.of(
          "image", "volumes", "network", "command", "memory", "cpus", "pids", "tmpfs", "user",
          "env", "runtime", "scope", "pool", "timeout");
  private static final List<String> FORBIDDEN_ROOTS =
      List.of("/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/root");

  private DockerEntry() {}

  static void check(Section docker, boolean required) {
    docker.allowOnly(KEYS);
    String image = docker.text("image", "");
    if (image.isBlank()) {
      if (required) {
        docker.complain("image", "risk level 3 runs in a container and needs its image");
      }
    } else if (image.startsWith("-") || image.chars().anyMatch(c -> c <= ' ')) {
      docker.complain("image", "not the name of an image");
    }
    String network = docker.text("network", "none");
    if (network.equals("host") || network.startsWith("container:")) {
      docker.complain("network", "\"" + network + "\" is not isolated");
    }
    List<String> volumes = docker.texts("volumes", 100);
    for (int i = 0; i < volumes.size(); i++) {
      checkVolume(docker, "volumes[" + i + "]", volumes.get(i));
    }
  }

  private static void checkVolume(Section docker, String key, String volume) {
    String[] parts = volume.split(":", -1);
    boolean shaped =
        (parts.length == 2 || parts.length == 3 && List.of("ro", "rw").contains(parts[2]))
            && parts[0].startsWith("/")
            && parts[1].startsWith("/")
            && !volume.contains("..");
    if (!shaped) {
      docker.complain(key, "expected /host/path:/container/path, with :ro or :rw");
    } else if (isForbidden(parts[0])) {
      docker.complain(key, parts[0] + " is never mounted");
    }
  }

  private static boolean isForbidden(String host) {
    return host.replaceAll("/+", "/").equals("/")
        || host.contains("docker.sock")
        || FORBIDDEN_ROOTS.stream().anyMatch(r -> host.equals(r) || host.startsWith(r + "/"));
  }
}
