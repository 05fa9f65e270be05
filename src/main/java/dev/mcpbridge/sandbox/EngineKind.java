package dev.mcpbridge.sandbox;

import com.github.dockerjava.api.model.Version;
import java.util.Set;

/** Whose engine it is, where that makes a difference. */
enum EngineKind {
  DOCKER(Set.of()),
  /** See podman-create(1), {@code --read-only-tmpfs}, which its compatible API has always on. */
  PODMAN(Set.of("/run", "/tmp", "/var/tmp"));

  private final Set<String> opened;

  EngineKind(Set<String> opened) {
    this.opened = opened;
  }

  static EngineKind of(Version version) {
    boolean isPodman =
        version.getComponents() != null
            && version.getComponents().stream()
                .anyMatch(part -> String.valueOf(part.getName()).startsWith("Podman"));
    return isPodman ? PODMAN : DOCKER;
  }

  /**
   * Mount options that make a folder in memory its user's. runc before 1.2 gives such a folder the
   * mode of the image's own folder there, whatever mode was asked for, so that only its owner may
   * be able to write to it. Podman refuses these options.
   *
   * @param user numeric, {@code user:group}
   */
  String owner(String user) {
    String[] ids = user.split(":");
    return this == DOCKER ? ",uid=" + ids[0] + ",gid=" + ids[1] : "";
  }

  /** Folders that it lets a container write, though its root is read-only. */
  Set<String> opened() {
    return opened;
  }
}
