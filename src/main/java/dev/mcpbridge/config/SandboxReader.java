package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Understands the {@code sandbox} section. Stateless. */
final class SandboxReader {
  private static final String DEFAULT_ENGINE = "unix:///var/run/docker.sock";

  private SandboxReader() {}

  /**
   * @param engine of the environment, null for none
   */
  static SandboxConfig read(Section sandbox, String engine) {
    sandbox.allowOnly(
        List.of("engine", "limits", "allowedImages", "allowedMounts", "allowedNetworks"));
    Section limits = sandbox.section("limits");
    limits.allowOnly(List.of("memory", "cpus", "pids", "tmpfs", "pool"));
    return new SandboxConfig(
        engine(sandbox, engine == null ? DEFAULT_ENGINE : engine),
        new SandboxConfig.Ceiling(
            limits.bytes("memory", "1g", 4 << 20, 1L << 40),
            limits.number("cpus", 2, 0.01, 1024),
            limits.integer("pids", 256, 1, 1 << 20),
            limits.bytes("tmpfs", "256m", 0, 1L << 40),
            limits.integer("pool", 8, 1, 1000)),
        images(sandbox),
        mounts(sandbox),
        sandbox.texts("allowedNetworks", 1000));
  }

  private static String engine(Section sandbox, String otherwise) {
    String engine = sandbox.text("engine", otherwise);
    if (!engine.matches("unix:///.+|tcp://[^/@:]+:\\d{1,5}/?")) {
      sandbox.complain("engine", "expected unix:///path or tcp://host:port, found " + engine);
      return DEFAULT_ENGINE;
    }
    return engine;
  }

  private static List<Glob> images(Section sandbox) {
    return sandbox.has("allowedImages")
        ? sandbox.texts("allowedImages", 1000).stream().map(Glob::new).toList()
        : null;
  }

  private static List<Path> mounts(Section sandbox) {
    if (!sandbox.has("allowedMounts")) {
      return null;
    }
    List<Path> roots = new ArrayList<>();
    for (String root : sandbox.texts("allowedMounts", 1000)) {
      try {
        roots.add(Path.of(root).toRealPath());
      } catch (IOException | InvalidPathException e) {
        sandbox.complain("allowedMounts", "no such folder: " + root);
      }
    }
    return roots;
  }
}
