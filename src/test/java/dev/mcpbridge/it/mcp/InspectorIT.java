package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The official MCP Inspector as an independent client, over each transport. */
@Tag("mcp")
class InspectorIT {
  private static final Path JAR = Path.of("target", "mcp-bridge.jar").toAbsolutePath();

  @TempDir Path home;

  @ParameterizedTest
  @CsvSource({"http,/mcp,legacy", "http,/mcp,modern", "http,/mcp,auto", "sse,/sse,legacy"})
  void listsAndCallsOverHttp(String transport, String path, String era) throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      String url = bridge.uri(path).toString();
      String[] target = {url, "--transport", transport, "--protocol-era", era};

      assertTrue(inspect(target, "--method", "tools/list").contains("s__echo"));
      String output =
          inspect(
              target,
              "--method",
              "tools/call",
              "--tool-name",
              "s__echo",
              "--tool-args-json",
              "{\"a\":\"b\"}");
      assertTrue(output.replaceAll("\\s", "").contains("{\"a\":\"b\"}"), output);
    }
  }

  @ParameterizedTest
  @CsvSource({"legacy", "modern"})
  void listsAndCallsOverStdio(String era) throws Exception {
    Path config = home.resolve("bridge.json");
    Files.writeString(config, TestBridge.json("{'mcpServers':{'s':" + TestBridge.entry("") + "}}"));
    String[] target = {TestBridge.java(), "-jar", JAR.toString(), "stdio", "-c", config.toString()};

    String output =
        inspect(
            target,
            "--protocol-era",
            era,
            "--method",
            "tools/call",
            "--tool-name",
            "s__echo",
            "--tool-args-json",
            "{\"a\":\"b\"}");

    assertTrue(output.replaceAll("\\s", "").contains("{\"a\":\"b\"}"), output);
  }

  private String inspect(String[] target, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Requirements.node().toString());
    command.add(
        Requirements.npmProgram("@modelcontextprotocol/inspector/package.json")
            .resolveSibling("../../.bin/mcp-inspector")
            .normalize()
            .toString());
    command.add("--cli");
    command.addAll(Arrays.asList(target));
    command.addAll(Arrays.asList(arguments));
    File log = home.resolve("inspector.txt").toFile();
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
    builder.environment().put("HOME", home.toString());
    Process process = builder.start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the Inspector did not exit");
    String output = Files.readString(log.toPath(), StandardCharsets.UTF_8);
    assertEquals(0, process.exitValue(), output);
    return output;
  }
}
