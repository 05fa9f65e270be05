package dev.mcpbridge.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Examines the Java runtime and the limits of this process, which a bridge would have, too. */
final class MachineExamination {
  private static final long MIN_HEAP = 64L << 20;
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path MEMORY = Path.of("/proc/meminfo");
  private static final int FILES_OF_A_SERVER = 8;
  private static final int FILES_OF_THE_BRIDGE = 200;

  private MachineExamination() {}

  /**
   * @param connections that the listener accepts
   * @param servers number of configured servers
   */
  static List<Finding> of(int connections, int servers) {
    List<Finding> findings = new ArrayList<>();
    findings.add(java());
    findings.add(heap());
    openFiles().ifPresent(files -> findings.add(files(files, connections, servers)));
    memory().ifPresent(findings::add);
    return findings;
  }

  private static Finding java() {
    return Finding.ok(
        "Java",
        "%s (%s) on %s %s, %d processors"
            .formatted(
                Runtime.version(),
                System.getProperty("java.vendor"),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors()));
  }

  private static Finding heap() {
    long bytes = Runtime.getRuntime().maxMemory();
    String detail = "at most " + (bytes >> 20) + " MiB";
    return bytes < MIN_HEAP
        ? Finding.warning(
            "heap", detail, "Large results are refused: set MCP_BRIDGE_JAVA_OPTS=-Xmx128m or more")
        : Finding.ok("heap", detail);
  }

  private static Finding files(long limit, int connections, int servers) {
    long needed = connections + (long) servers * FILES_OF_A_SERVER + FILES_OF_THE_BRIDGE;
    return limit < needed
        ? Finding.warning(
            "open files",
            limit + " allowed; http.maxConnections and the servers may need " + needed,
            "Raise the limit (ulimit -n, or LimitNOFILE of the unit), or lower http.maxConnections")
        : Finding.ok("open files", limit + " allowed, " + needed + " needed at most");
  }

  /** The soft limit, which the Java runtime has raised to the hard one. */
  private static OptionalLong openFiles() {
    return number(LIMITS, "Max open files\\s+(\\d+)\\s.*");
  }

  private static Optional<Finding> memory() {
    OptionalLong kibibytes = number(MEMORY, "MemAvailable:\\s+(\\d+) kB");
    if (kibibytes.isEmpty()) {
      return Optional.empty();
    }
    long mebibytes = kibibytes.getAsLong() >> 10;
    String detail = mebibytes + " MiB available";
    return Optional.of(
        mebibytes < 256
            ? Finding.warning("memory", detail, "Servers may be killed by the system: free some")
            : Finding.ok("memory", detail));
  }

  private static OptionalLong number(Path file, String line) {
    try {
      return Files.readAllLines(file).stream()
          .filter(each -> each.matches(line))
          .mapToLong(each -> Long.parseLong(each.replaceFirst(line, "$1")))
          .findFirst();
    } catch (IOException | NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
