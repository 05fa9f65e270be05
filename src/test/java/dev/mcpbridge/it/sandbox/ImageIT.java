package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.Program;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The image of the bridge, made from this machine, and the runtime for small devices. */
@Tag("sandbox")
class ImageIT {
  private static final String IMAGE = "mcp-bridge-test/bridge";
  private static final String JAVA = "/opt/mcp-bridge/java/bin/java";
  private static final String JAR = "/opt/mcp-bridge/mcp-bridge.jar";

  @TempDir private static Path folder;
  private static Engine engine;

  @BeforeAll
  static void makeImage() throws Exception {
    engine = Engine.at(null);
    Requirements.root();
    Requirements.program("tini");
    run("src/deploy/image/import", IMAGE);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(
        folder.resolve("bridge.json"),
        """
        {
          "http": {"host": "0.0.0.0", "port": 0, "insecure": true},
          "servers": {"git": {"builtin": "git", "args": ["--root", "/etc/mcp-bridge"]}}
        }
        """);
  }

  private static String run(String... command) throws IOException, InterruptedException {
    return Program.output(0, List.of(command));
  }

  private static String inContainer(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(List.of(Requirements.program("docker"), "run", "--rm", "--read-only"));
    command.addAll(List.of("--tmpfs", "/tmp", "--network=none"));
    command.addAll(List.of("--cap-drop=ALL", "--security-opt=no-new-privileges"));
    command.addAll(Arrays.asList(arguments));
    return run(command.toArray(String[]::new));
  }

  @Test
  void theImageIsSmallAndRunsAsAUserWithoutAName() throws Exception {
    JsonNode image = engine.inspect(IMAGE);

    assertTrue(image.path("Size").asLong() < 130_000_000, image.path("Size").asText());
    assertEquals("65532:65532", image.at("/Config/User").asText());
    assertEquals("health", image.at("/Config/Healthcheck/Test/5").asText());
  }

  /** The training starts the server, calls a tool of it and ends the bridge. */
  @Test
  void withAReadOnlyRootABridgeStartsItsServerAndCallsATool() throws Exception {
    String log =
        inContainer(
            "-v", folder + ":/etc/mcp-bridge:ro", IMAGE, "serve", "--train", "--log", "debug");

    assertTrue(log.contains("server=git state=ready"), log);
  }

  @Test
  void theArchiveFitsTheJavaAndTheJarOfTheImage() throws Exception {
    String version = inContainer("--entrypoint", JAVA, IMAGE, "-Xshare:on", "-jar", JAR, "-V");

    assertTrue(version.startsWith("mcp-bridge"), version);
  }

  @Test
  void stoppingTheContainerReachesTheBridgeThroughItsInit() throws Exception {
    String name = "mcp-bridge-test-" + ProcessHandle.current().pid();
    Process container =
        new ProcessBuilder(
                Requirements.program("docker"),
                "run",
                "--name",
                name,
                "--network=none",
                "-v",
                folder + ":/etc/mcp-bridge:ro",
                IMAGE)
            .redirectErrorStream(true)
            .start();
    try (BufferedReader log = container.inputReader()) {
      assertTrue(log.lines().anyMatch(line -> line.contains("server=git state=ready")));
      String first = engine.execute("top", name).lines().toList().get(1);

      engine.execute("stop", "-t", "60", name);

      assertTrue(first.contains("/usr/bin/tini"), first);
      assertEquals(143, container.waitFor(), "ended by SIGTERM, not by SIGKILL");
    } finally {
      engine.execute("rm", "-f", "-v", name);
    }
  }

  @Test
  void theHealthCheckOfTheEngineFindsABridgeWithKeysHealthy(@TempDir Path keyed) throws Exception {
    Files.setPosixFilePermissions(keyed, PosixFilePermissions.fromString("rwxr-xr-x"));
    String keys = TestBridge.auth(TestBridge.key("x", ApiKeys.generate(), "'read'"));
    Files.writeString(
        keyed.resolve("bridge.json"),
        TestBridge.json("{'http':{'host':'0.0.0.0'}," + keys + ",'mcpServers':{}}"));
    String container =
        engine
            .execute(
                "run",
                "-d",
                "--network=none",
                "--health-interval=1s",
                "-v",
                keyed + ":/etc/mcp-bridge:ro",
                IMAGE)
            .strip();
    Process events =
        new ProcessBuilder(
                Requirements.program("docker"),
                "events",
                "--since=1h",
                "--filter=event=health_status",
                "--filter=container=" + container)
            .start();
    try (BufferedReader results = events.inputReader()) {
      String first = results.readLine();

      assertTrue(first.contains("health_status: healthy"), first);
    } finally {
      events.destroy();
      engine.execute("rm", "-f", "-v", container);
    }
  }

  @Test
  void withoutKeysABridgeThatOthersCanReachIsRefused() {
    AssertionError refused = assertThrows(AssertionError.class, () -> inContainer(IMAGE));

    assertTrue(refused.getMessage().contains("add auth.keys"), refused.getMessage());
  }

  @Test
  void theRuntimeForSmallDevicesHasItsOwnJavaAndIsSmall(@TempDir Path device) throws Exception {
    Path runtime = device.resolve("runtime");
    run("src/deploy/runtime/build", runtime.toString(), "small");
    long bytes = 0;
    try (Stream<Path> files = Files.walk(runtime)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        bytes += Files.size(file);
      }
    }

    assertTrue(bytes < 90_000_000, bytes + " bytes");
    String version = run("env", "-i", "PATH=/usr/bin:/bin", runtime + "/mcp-bridge", "--version");
    assertTrue(version.startsWith("mcp-bridge"), version);
  }

  @Test
  void aFolderThatExistsIsNotReplaced(@TempDir Path existing) throws Exception {
    Path file = Files.createFile(existing.resolve("file"));

    String script = "src/deploy/runtime/build";
    AssertionError refused =
        assertThrows(AssertionError.class, () -> run(script, existing.toString(), "small"));

    assertTrue(refused.getMessage().contains("exists already"), refused.getMessage());
    assertTrue(Files.exists(file));
  }
}
