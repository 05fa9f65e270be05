package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.OpenIdProvider;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** As a user whose browser is logged in at the issuer. */
  @ParameterizedTest
  @CsvSource({"legacy", "modern"})
  void logsInToABridgeWithAnIssuer(String era) throws Exception {
    try (OpenIdProvider provider = new OpenIdProvider(home);
        TestBridge bridge =
            TestBridge.of(
                "{'auth':{'issuers':[{'name':'corp','issuer':'%s'}]},'mcpServers':{'s':%s}}"
                    .formatted(provider.issuer(), TestBridge.entry("")))) {
      String back = "http://127.0.0.1:" + FreePorts.find(1).get(0) + "/oauth/callback";
      String[] target = {bridge.uri("/mcp").toString(), "--protocol-era", era};
      Process process = start(target, "--callback-url", back, "--method", "tools/list");
      String login = awaitLine(process, provider.issuer() + "/auth?");

      ConsentBrowser browser = new ConsentBrowser().withCookie(provider.issuer(), "user", "bob");
      browser.open(browser.followTo(URI.create(login), back));

      String output = output(process);
      assertTrue(output.contains("s__echo"), output);
    }
  }

  /** Waits for a URL in what the Inspector prints. */
  private String awaitLine(Process process, String start) throws Exception {
    Pattern url = Pattern.compile(Pattern.quote(start) + "\\S+");
    while (process.isAlive()) {
      Matcher found = url.matcher(Files.readString(log()));
      if (found.find() && !found.hitEnd()) {
        return found.group();
      }
      process.waitFor(50, TimeUnit.MILLISECONDS);
    }
    throw new IllegalStateException(Files.readString(log()));
  }

  private Path log() {
    return home.resolve("inspector.txt");
  }

  private String inspect(String[] target, String... arguments) throws Exception {
    return output(start(target, arguments));
  }

  private Process start(String[] target, String... arguments) throws Exception {
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
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log().toFile());
    builder.environment().put("HOME", home.toString());
    builder.environment().put("MCP_AUTO_OPEN_ENABLED", "true");
    return builder.start();
  }

  private String output(Process process) throws Exception {
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the Inspector did not exit");
    String output = Files.readString(log(), StandardCharsets.UTF_8);
    assertEquals(0, process.exitValue(), output);
    return output;
  }
}
