package dev.mcpbridge.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Servers that come with the bridge: a command of the same program, run as a child process. */
final class Builtin {
  private static final String MAIN = "dev.mcpbridge.cli.Main";

  private Builtin() {}

  static List<String> commandOf(String builtin) {
    List<String> argv = new ArrayList<>();
    argv.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    argv.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-Xshare:auto"));
    String archive = System.getProperty("mcpbridge.archive");
    if (archive != null && Files.isReadable(Path.of(archive))) {
      argv.add("-XX:SharedArchiveFile=" + archive);
    }
    argv.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, builtin + "-server"));
    return argv;
  }
}
