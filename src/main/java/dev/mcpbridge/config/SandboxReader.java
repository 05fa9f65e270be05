package dev.mcpbridge.config;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the {@code sandbox} section. Stateless. */
final class SandboxReader {
  private static final String DEFAULT_ENGINE = "unix:///var/run/docker.sock";

  private SandboxReader() {}

  /**
   * @param engine address from the environment; null if not set
   */
  static SandboxConfig read(Section sandbox, String engine) {
    Section limits = sandbox.section("limits");
    return new SandboxConfig(
        engine(sandbox, engine == null ? DEFAULT_ENGINE : engine),
        new SandboxConfig.EntryLimits(
            limits.bytes("memory"),
            limits.number("cpus"),
            limits.integer("pids"),
            limits.bytes("tmpfs"),
            limits.integer("pool")),
        sandbox.has("allowedImages") ? sandbox.globs("allowedImages") : null,
        mounts(sandbox),
        sandbox.texts("allowedNetworks"));
  }

  private static String engine(Section sandbox, String fallback) {
    String engine = sandbox.text("engine", fallback);
    if (!engine.matches("unix:///.+|tcp://[^/@:]+:\\d{1,5}/?")) {
      sandbox.report("engine", "expected unix:///path or tcp://host:port, found " + engine);
      return DEFAULT_ENGINE;
    }
    return engine;
  }

  private static List<Path> mounts(Section sandbox) {
    if (!sandbox.has("allowedMounts")) {
      return null;
    }
    List<Path> roots = new ArrayList<>();
    for (String root : sandbox.texts("allowedMounts")) {
      try {
        roots.add(Path.of(root).toRealPath());
      } catch (IOException | InvalidPathException e) {
        sandbox.report("allowedMounts", "no such folder: " + root);
      }
    }
    return roots;
  }
}
