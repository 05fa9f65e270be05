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

  /** Folders that it lets a container write, though its root is read-only. */
  Set<String> opened() {
    return opened;
  }
}
