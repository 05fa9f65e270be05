package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Needs;
import dev.mcpbridge.fixture.TestBridge;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The official conformance suite against the door of one server: every scenario that a revision
 * requires has to pass. What the suite does not score (extensions, pending ones) does not count.
 */
class ConformanceIT {
  private static final Path SUITE = Path.of("@modelcontextprotocol/conformance/dist/index.js");

  @ParameterizedTest
  @CsvSource({"2025-11-25,legacy,80", "2026-07-28,modern,100"})
  void everyRequiredScenarioPasses(String revision, String era, int checks) throws Exception {
    Path suite = Needs.npmProgram(SUITE.toString());
    String server =
        "{'command':'"
            + Needs.node()
            + "','args':['"
            + Needs.nodeServer("fixture-server.mjs")
            + "'],'era':'"
            + era
            + "'}";
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'fixture':" + server + "}}")) {
      bridge.until(() -> bridge.state("fixture").equals("ready"));
      Path log = Path.of("target", "conformance-" + revision + ".txt");

      Process run =
          new ProcessBuilder(
                  Needs.node().toString(),
                  suite.toString(),
                  "server",
                  "--url",
                  bridge.uri("/servers/fixture/mcp").toString(),
                  "--requirements",
                  revision,
                  "-o",
                  "target/conformance-" + revision)
              .redirectErrorStream(true)
              .redirectOutput(new File(log.toString()))
              .start();

      assertTrue(run.waitFor(180, TimeUnit.SECONDS), "the suite did not end");
      String said = Files.readString(log);
      assertEquals(0, run.exitValue(), said.substring(Math.max(0, said.indexOf("=== SUMMARY"))));
      String total = said.substring(said.indexOf("Total: ") + 7);
      assertTrue(Integer.parseInt(total.substring(0, total.indexOf(' '))) >= checks, total);
    }
  }
}
