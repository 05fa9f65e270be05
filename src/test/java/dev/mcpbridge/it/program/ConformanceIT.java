package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ConformanceDriver;
import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The official conformance suite against the endpoint of one server: every scenario that a revision
 * requires must pass. Scenarios that the suite does not score (extensions, pending) are ignored.
 */
@Tag("program")
@Tag("slow")
class ConformanceIT {
  private static final Path SUITE = Path.of("@modelcontextprotocol/conformance/dist/index.js");

  @ParameterizedTest
  @CsvSource({
    "2025-11-25,initialize",
    "2025-11-25,tools_call",
    "2025-11-25,elicitation-sep1034-client-defaults",
    "2025-11-25,sse-retry",
    "2026-07-28,tools_call",
    "2026-07-28,request-metadata",
    "2026-07-28,sep-2322-client-request-state",
    "2026-07-28,http-standard-headers",
    "2026-07-28,http-custom-headers",
    "2026-07-28,http-invalid-tool-headers",
    "2026-07-28,json-schema-ref-no-deref"
  })
  void requiredClientScenariosWithoutOauthPass(String revision, String scenario) throws Exception {
    Path log = Path.of("target", "conformance-client-" + scenario + ".txt");
    Process run =
        new ProcessBuilder(
                Requirements.node().toString(),
                Requirements.npmProgram(SUITE.toString()).toString(),
                "client",
                "--command",
                TestBridge.java()
                    + " -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "
                    + System.getProperty("java.class.path")
                    + " "
                    + ConformanceDriver.class.getName(),
                "--scenario",
                scenario,
                "--spec-version",
                revision,
                "-o",
                "target/conformance-client")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();

    assertTrue(run.waitFor(90, TimeUnit.SECONDS), "the suite did not finish in time");
    assertEquals(0, run.exitValue(), Files.readString(log));
  }

  @ParameterizedTest
  @CsvSource({"2025-11-25,legacy,80", "2026-07-28,modern,100"})
  void requiredScenariosPassWithAStdioServer(String revision, String era, int checks)
      throws Exception {
    assertRequirements(revision, checks, "stdio", NodeFixture.stdio("'era':'" + era + "'"));
  }

  @ParameterizedTest
  @CsvSource({"2025-11-25,legacy,80", "2026-07-28,modern,100"})
  void requiredScenariosPassWithAnHttpServer(String revision, String era, int checks)
      throws Exception {
    try (NodeFixture fixture = NodeFixture.listening()) {
      assertRequirements(revision, checks, "http", fixture.http("'era':'" + era + "'"));
    }
  }

  private static void assertRequirements(
      String revision, int checks, String transport, String server) throws Exception {
    String results = "target/conformance-" + revision + "-" + transport;
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'fixture':" + server + "}}").awaitReady("fixture")) {
      Path log = Path.of(results + ".txt");

      Process run =
          new ProcessBuilder(
                  Requirements.node().toString(),
                  Requirements.npmProgram(SUITE.toString()).toString(),
                  "server",
                  "--url",
                  bridge.uri("/servers/fixture/mcp").toString(),
                  "--requirements",
                  revision,
                  "-o",
                  results)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();

      assertTrue(run.waitFor(180, TimeUnit.SECONDS), "the suite did not finish in time");
      String output = Files.readString(log);
      assertEquals(
          0, run.exitValue(), output.substring(Math.max(0, output.indexOf("=== SUMMARY"))));
      String total = output.substring(output.indexOf("Total: ") + 7);
      assertTrue(Integer.parseInt(total.substring(0, total.indexOf(' '))) >= checks, total);
    }
  }
}
