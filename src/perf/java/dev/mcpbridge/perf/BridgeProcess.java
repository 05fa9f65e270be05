package dev.mcpbridge.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A bridge process on a free port; closing it ends the process. */
record BridgeProcess(Process process, int port, Path config) implements AutoCloseable {

  /** Starts the bridge from its jar. */
  static BridgeProcess ofJar(String jar, String configuration, String... more) throws IOException {
    return start(List.of(Ladder.java(), "-XX:+UseSerialGC", "-jar", jar), configuration, more);
  }

  /** The same with Java's account of memory outside of the heap, which costs some percent. */
  static BridgeProcess tracked(String jar, String configuration, String... more)
      throws IOException {
    return start(
        List.of(Ladder.java(), "-XX:+UseSerialGC", "-XX:NativeMemoryTracking=summary", "-jar", jar),
        configuration,
        more);
  }

  /** Starts the bridge from the launcher next to its jar, with the launcher's memory settings. */
  static BridgeProcess ofLauncher(String jar, String configuration) throws IOException {
    return start(List.of(jar.replaceAll("\\.jar$", "")), configuration);
  }

  private static BridgeProcess start(List<String> program, String configuration, String... more)
      throws IOException {
    Path config = Files.createTempFile("bench", ".json");
    Files.writeString(config, configuration);
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of("serve", "--port", "0", "--config", config.toString()));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String scheme = configuration.contains("\"tls\"") ? "https" : "http";
    int port = Ladder.port(process, "MCP Bridge is listening on " + scheme + "://127.0.0.1:");
    return new BridgeProcess(process, port, config);
  }

  /** Replaces the configuration file, which the bridge reads again within a second or two. */
  void configure(String configuration) throws IOException {
    Files.writeString(config, configuration);
  }

  /** Resident memory in kilobytes. */
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
