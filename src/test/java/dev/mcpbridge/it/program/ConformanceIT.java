package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ConformanceDriver;
import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The official conformance suite against the endpoint of one server: every scenario that a revision
 * requires must pass, and of the extensions those that the bridge supports. Others that the suite
 * does not score are ignored.
 */
@Tag("program")
@Tag("slow")
class ConformanceIT {
  private static final Path SUITE = Path.of("@modelcontextprotocol/conformance/dist/index.js");
  @AutoClose private static ConformanceDriver driver;

  @BeforeAll
  static void listen() throws Exception {
    driver = new ConformanceDriver();
  }

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
    "2026-07-28,json-schema-ref-no-deref",
    "2025-11-25,auth/metadata-default",
    "2025-11-25,auth/metadata-var1",
    "2025-11-25,auth/metadata-var2",
    "2025-11-25,auth/metadata-var3",
    "2025-11-25,auth/basic-cimd",
    "2025-11-25,auth/pre-registration",
    "2025-11-25,auth/token-endpoint-auth-basic",
    "2025-11-25,auth/token-endpoint-auth-post",
    "2025-11-25,auth/token-endpoint-auth-none",
    "2025-11-25,auth/scope-from-www-authenticate",
    "2025-11-25,auth/scope-from-scopes-supported",
    "2025-11-25,auth/scope-omitted-when-undefined",
    "2025-11-25,auth/scope-step-up",
    "2025-11-25,auth/scope-retry-limit",
    "2026-07-28,auth/client-credentials-basic",
    "2026-07-28,auth/client-credentials-jwt",
    "2026-07-28,auth/metadata-default",
    "2026-07-28,auth/metadata-var1",
    "2026-07-28,auth/metadata-var2",
    "2026-07-28,auth/metadata-var3",
    "2026-07-28,auth/basic-cimd",
    "2026-07-28,auth/pre-registration",
    "2026-07-28,auth/token-endpoint-auth-basic",
    "2026-07-28,auth/token-endpoint-auth-post",
    "2026-07-28,auth/token-endpoint-auth-none",
    "2026-07-28,auth/scope-from-www-authenticate",
    "2026-07-28,auth/scope-from-scopes-supported",
    "2026-07-28,auth/scope-omitted-when-undefined",
    "2026-07-28,auth/scope-step-up",
    "2026-07-28,auth/scope-retry-limit",
    "2026-07-28,auth/resource-mismatch",
    "2026-07-28,auth/offline-access-scope",
    "2026-07-28,auth/offline-access-not-supported",
    "2026-07-28,auth/authorization-server-migration",
    "2026-07-28,auth/iss-supported",
    "2026-07-28,auth/iss-not-advertised",
    "2026-07-28,auth/iss-supported-missing",
    "2026-07-28,auth/iss-wrong-issuer",
    "2026-07-28,auth/iss-unexpected",
    "2026-07-28,auth/iss-normalized",
    "2026-07-28,auth/metadata-issuer-mismatch"
  })
  void requiredClientScenariosPass(String revision, String scenario) throws Exception {
    Path log =
        Path.of(
            "target", "conformance-client-" + scenario.replace('/', '-') + "-" + revision + ".txt");
    Process run =
        new ProcessBuilder(
                Requirements.node().toString(),
                Requirements.npmProgram(SUITE.toString()).toString(),
                "client",
                "--command",
                driver.command(),
                "--scenario",
                scenario,
                "--spec-version",
                revision,
                "--force",
                "-o",
                "target/conformance-client")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();

    assertTrue(run.waitFor(90, TimeUnit.SECONDS), "the suite did not finish in time");
    String output = Files.readString(log);
    assertEquals(0, run.exitValue(), output);
    assertFalse(output.startsWith("SKIPPED"), output);
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
