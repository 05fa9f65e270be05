package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.Program;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.ServedBridge;
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

  /** An MCP server that costs as little as a server can. */
  private static final String SERVER =
      """
      while read -r line; do
        id=$(printf %s "$line" | sed -n 's/.*"id":\\([^,}]*\\).*/\\1/p')
        case $line in
          *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
          *'"tools/list"'*) result='{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
          *) result='{}' ;;
        esac
        [ -z "$id" ] || echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$id,\\"result\\":$result}"
      done
      """;

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
    JsonNode labels = image.at("/Config/Labels");
    assertEquals("MCP Bridge", labels.path("org.opencontainers.image.title").asText());
    assertEquals("Apache-2.0", labels.path("org.opencontainers.image.licenses").asText());
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

    long resident = residentWithFiveIdleServers(device, runtime.resolve("mcp-bridge"));

    System.out.printf("small runtime: %d bytes on disk, %d kB resident%n", bytes, resident);
    assertTrue(bytes < 90_000_000, bytes + " bytes");
    assertTrue(resident < 90 << 10, resident + " kB");
  }

  /** In kilobytes, of the bridge without its servers. */
  private static long residentWithFiveIdleServers(Path folder, Path program) throws Exception {
    Path server = Files.writeString(folder.resolve("server"), SERVER);
    List<String> entries = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      entries.add("'s%d':{'command':'/bin/sh','args':['%s']}".formatted(i, server));
    }
    Path config = folder.resolve("bridge.json");
    String servers = String.join(",", entries);
    Files.writeString(config, TestBridge.json("{'mcpServers':{" + servers + "}}"));
    ProcessBuilder builder =
        new ProcessBuilder(program.toString(), "serve", "-p", "0", "-c", config.toString());
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/bin:/bin");
    builder.environment().put("HOME", folder.toString());
    try (ServedBridge bridge =
        ServedBridge.from(builder.redirectError(folder.resolve("err").toFile()))) {
      for (int i = 0; i < 5; i++) {
        String tools = run("curl", "-sS", bridge.url() + "/servers/s" + i + "/tools");
        assertTrue(tools.contains("\"name\":\"t\""), tools);
      }
      Path status = Path.of("/proc/" + bridge.process().pid() + "/status");
      String line =
          Files.readAllLines(status).stream()
              .filter(each -> each.startsWith("VmRSS:"))
              .findFirst()
              .orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", ""));
    }
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
