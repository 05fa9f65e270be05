package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.Program;
import dev.mcpbridge.fixture.Requirements;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The images of the Dockerfiles, built on images with programs of this machine. */
@Tag("sandbox")
class DockerfileIT {
  private static final String BRIDGE = "mcp-bridge-test/built";
  private static final String TOOLS = "mcp-bridge-test/tools";
  private static final Pattern READY = Pattern.compile("server=(\\w+) state=ready");

  @TempDir private static Path context;
  private static Engine engine;

  @BeforeAll
  static void build() throws Exception {
    engine = Engine.at(null);
    engine.buildFromMachine(
        "mcp-bridge-test/jdk", System.getProperty("java.home"), Requirements.program("tini"));
    List<String> copy = new ArrayList<>(List.of("cp", "-r", "--parents", "src/deploy"));
    copy.addAll(List.of("target/mcp-bridge", "target/mcp-bridge.jar", context.toString()));
    Program.output(0, copy);
    build(BRIDGE, "Dockerfile", "BUILD_IMAGE=mcp-bridge-test/jdk");
    Files.setPosixFilePermissions(context, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static void build(String tag, String file, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("build", "-q", "-t", tag));
    command.addAll(List.of("-f", context + "/src/deploy/image/" + file));
    for (String argument : arguments) {
      command.addAll(List.of("--build-arg", argument));
    }
    command.add(context.toString());
    engine.execute(command.toArray(String[]::new));
  }

  private static String in(String image, String... command) throws Exception {
    List<String> all = new ArrayList<>(List.of("run", "--rm", "--read-only", "--network=none"));
    all.addAll(List.of("--tmpfs", "/tmp", "--entrypoint", command[0], image));
    all.addAll(List.of(command).subList(1, command.length));
    return engine.execute(all.toArray(String[]::new));
  }

  @Test
  void theImageIsSmallAndItsArchiveFitsItsJava() throws Exception {
    JsonNode built = engine.inspect(BRIDGE);

    assertEquals("65532:65532", built.at("/Config/User").asText());
    assertEquals("/usr/bin/tini", built.at("/Config/Entrypoint/0").asText());
    assertEquals("health", built.at("/Config/Healthcheck/Test/5").asText());
    JsonNode labels = built.at("/Config/Labels");
    assertEquals("MCP Bridge", labels.path("org.opencontainers.image.title").asText());
    assertTrue(built.path("Size").asLong() < 130_000_000, built.path("Size").asText());
    String java = "/opt/mcp-bridge/java/bin/java";
    String version = in(BRIDGE, java, "-Xshare:on", "-jar", "/opt/mcp-bridge/mcp-bridge.jar", "-V");
    assertTrue(version.startsWith("mcp-bridge"), version);
  }

  @Test
  void theImageWithToolsRunsServersOfNodeAndPython() throws Exception {
    Path npx = Path.of(Requirements.program("npx"));
    Path npm = npx.toRealPath().getParent().getParent();
    Path uv = Requirements.pythonServer("uv");
    Path python = Requirements.systemPython();
    engine.buildFromMachine(
        "mcp-bridge-test/languages",
        Requirements.node().toAbsolutePath() + "=/usr/bin/node",
        npx.toString(),
        npm.toString(),
        python.toString(),
        python.toRealPath().toString(),
        "/usr/lib/" + python.toRealPath().getFileName(),
        uv.toAbsolutePath() + "=/usr/bin/uv");
    build(
        TOOLS,
        "tools.Dockerfile",
        "BRIDGE_IMAGE=" + BRIDGE,
        "BASE_IMAGE=mcp-bridge-test/languages");
    Files.writeString(
        context.resolve("bridge.json"),
        """
        {
          "http": {"port": 0},
          "mcpServers": {
            "node": {"command": "node", "args": ["/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js"]},
            "python": {"command": "uv", "args": ["run", "--offline", "--no-project", "/python/echo_server.py"]}
          }
        }
        """);

    assertEquals(settings(BRIDGE), settings(TOOLS));
    assertEquals(Set.of("node", "python"), readyServers());
    assertTrue(in(TOOLS, "npx", "--version").matches("\\d+\\..*"));
  }

  /** What both Dockerfiles say of the image. */
  private static List<JsonNode> settings(String image) throws Exception {
    JsonNode config = engine.inspect(image).path("Config");
    return Stream.of(
            "User",
            "Entrypoint",
            "Cmd",
            "Healthcheck",
            "Volumes",
            "WorkingDir",
            "ExposedPorts",
            "StopSignal")
        .map(config::path)
        .toList();
  }

  /** Starts the bridge with a read-only root and waits for its servers. */
  private static Set<String> readyServers() throws Exception {
    String name = "mcp-bridge-test-tools-" + ProcessHandle.current().pid();
    List<String> command =
        new ArrayList<>(List.of(Requirements.program("docker"), "run", "--name", name));
    command.addAll(List.of("--read-only", "--tmpfs", "/tmp", "--network=none", "--cap-drop=ALL"));
    command.addAll(List.of("-v", context + ":/etc/mcp-bridge:ro"));
    command.addAll(List.of("-v", Path.of(".tools/node").toAbsolutePath() + ":/node:ro"));
    command.addAll(List.of("-v", Path.of("src/test/python").toAbsolutePath() + ":/python:ro"));
    command.add(TOOLS);
    Process container = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader log = container.inputReader()) {
      return log.lines()
          .map(READY::matcher)
          .filter(Matcher::find)
          .map(found -> found.group(1))
          .distinct()
          .limit(2)
          .collect(Collectors.toSet());
    } finally {
      engine.execute("rm", "-f", "-v", name);
    }
  }
}
