package dev.mcpbridge.it.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The protocol's reference server, reached over HTTP. */
@Tag("remote")
class ReferenceServerIT {
  @ParameterizedTest
  @CsvSource({"streamableHttp,/mcp,http", "sse,/sse,sse", "sse,/sse,http"})
  void itWorksOverEachTransport(String mode, String path, String type) throws Exception {
    int port = FreePorts.find(1).get(0);
    ProcessBuilder server =
        new ProcessBuilder(
            Requirements.node().toString(),
            Requirements.npmServer("server-everything").toString(),
            mode);
    server.environment().put("PORT", Integer.toString(port));
    Process process =
        server.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try (TestBridge bridge =
        TestBridge.of(
                "{'mcpServers':{'s':{'type':'%s','url':'http://127.0.0.1:%s%s'}}}"
                    .formatted(type, port, path))
            .awaitReady("s")) {

      assertEquals("Echo: hi", bridge.call("echo", "{\"message\":\"hi\"}").firstText());
      Answer streamed =
          bridge.call(
              "trigger-long-running-operation",
              "{\"duration\":0.3,\"steps\":3}",
              "accept",
              "text/event-stream");
      assertTrue(streamed.text().contains("event: progress"), streamed.text());
      assertTrue(streamed.text().contains("event: result"), streamed.text());
    } finally {
      process.destroyForcibly().waitFor();
    }
  }
}
