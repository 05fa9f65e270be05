package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.Requirements;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts of the console without a browser. */
@Tag("program")
class ConsoleScriptsIT {
  private static final Path SCRIPTS = Path.of("src/main/resources/dev/mcpbridge/http/console");
  private static final Path TESTS = Path.of("src/test/node/console");

  @TempDir Path folder;

  private static List<Path> files(Path folder, String end) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(end)).sorted().toList();
    }
  }

  private void run(List<String> command) throws Exception {
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    process.waitFor(120, TimeUnit.SECONDS);
    assertEquals(0, process.exitValue(), Files.readString(output));
  }

  @Test
  void modulesDoWhatTheirTestsSay() throws Exception {
    List<String> command = new ArrayList<>();
    Collections.addAll(command, Requirements.node().toString(), "--no-warnings", "--test");
    files(TESTS, ".test.mjs").forEach(test -> command.add(test.toString()));

    run(command);
  }

  /** The comments of the scripts declare their types. */
  @Test
  void scriptsHaveTheTypesThatTheyDeclare() throws Exception {
    Path compiler = Requirements.npmProgram("typescript/bin/tsc");
    for (Path script : files(SCRIPTS, ".js")) {
      Files.copy(script, folder.resolve(script.getFileName()));
    }
    unpackLibrary();
    List<String> command = new ArrayList<>();
    Collections.addAll(
        command,
        Requirements.node().toString(),
        compiler.toString(),
        "--noEmit",
        "--allowJs",
        "--checkJs",
        "--strict",
        "--skipLibCheck",
        "--target",
        "es2023",
        "--lib",
        "es2024,dom,dom.iterable,dom.asynciterable",
        "--module",
        "nodenext");
    files(folder, ".js").forEach(script -> command.add(script.toString()));

    run(command);
  }

  /** The library with its declarations, from its WebJar. */
  private void unpackLibrary() throws Exception {
    String known = "/META-INF/resources/webjars/lit-html/";
    String version =
        new String(
                ConsoleScriptsIT.class
                    .getResourceAsStream("/dev/mcpbridge/http/lit-html.version")
                    .readAllBytes())
            .strip();
    Path jar =
        Path.of(
            ConsoleScriptsIT.class
                .getResource(known + version + "/lit-html.d.ts")
                .toString()
                .replaceFirst("jar:file:", "")
                .replaceFirst("!.*", ""));
    try (InputStream in = Files.newInputStream(jar);
        JarInputStream entries = new JarInputStream(in)) {
      String prefix = (known + version + "/").substring(1);
      for (JarEntry e = entries.getNextJarEntry(); e != null; e = entries.getNextJarEntry()) {
        if (e.getName().startsWith(prefix) && e.getName().matches(".*\\.(js|ts)")) {
          Path file = folder.resolve("lit").resolve(e.getName().substring(prefix.length()));
          Files.createDirectories(file.getParent());
          Files.copy(entries, file);
        }
      }
    }
  }
}
