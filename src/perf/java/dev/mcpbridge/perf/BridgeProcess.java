package dev.mcpbridge.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A bridge as a user starts it, on a free port; ended with the block that opened it. */
record BridgeProcess(Process process, int port, Path config) implements AutoCloseable {

  /** From its jar. */
  static BridgeProcess ofJar(String jar, String configuration, String... more) throws IOException {
    return started(List.of(Ladder.java(), "-XX:+UseSerialGC", "-jar", jar), configuration, more);
  }

  /** From the launcher beside its jar, with the settings of memory that it has. */
  static BridgeProcess ofLauncher(String jar, String configuration) throws IOException {
    return started(List.of(jar.replaceAll("\\.jar$", "")), configuration);
  }

  private static BridgeProcess started(List<String> program, String configuration, String... more)
      throws IOException {
    Path config = Files.createTempFile("bench", ".json");
    Files.writeString(config, configuration);
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of("serve", "--port", "0", "--config", config.toString()));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    int port = Ladder.port(process, "MCP Bridge is listening on http://127.0.0.1:");
    return new BridgeProcess(process, port, config);
  }

  /** Kilobytes. */
  long resident() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/" + process.pid() + "/status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .findFirst()
          .orElse(0);
    }
  }

  long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      return open.count();
    }
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
    Files.delete(config);
  }
}
