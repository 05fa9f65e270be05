package dev.mcpbridge.sandbox;

import com.github.dockerjava.api.model.Version;
import java.util.Set;

/** The implementation of the container engine, as far as it makes a difference. */
enum EngineKind {
  DOCKER(Set.of()),
  /** See podman-create(1), {@code --read-only-tmpfs}: always on in its compatible API. */
  PODMAN(Set.of("/run", "/tmp", "/var/tmp"));

  private final Set<String> writableFolders;

  EngineKind(Set<String> opened) {
    this.writableFolders = opened;
  }

  static EngineKind of(Version version) {
    boolean isPodman =
        version.getComponents() != null
            && version.getComponents().stream()
                .anyMatch(part -> String.valueOf(part.getName()).startsWith("Podman"));
    return isPodman ? PODMAN : DOCKER;
  }

  /**
   * Mount options that set the owner of a tmpfs. runc before 1.2 ignores the requested mode and
   * uses that of the image's folder at the mount point, so that possibly only its owner can write
   * to it. Podman refuses these options.
   *
   * @param user numeric, {@code user:group}
   */
  String ownerOptions(String user) {
    String[] ids = user.split(":");
    return this == DOCKER ? ",uid=" + ids[0] + ",gid=" + ids[1] : "";
  }

  /** Folders that stay writable even if the root file system is read-only. */
  Set<String> writableFolders() {
    return writableFolders;
  }
}
