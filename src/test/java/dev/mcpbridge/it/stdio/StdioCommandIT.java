package dev.mcpbridge.it.stdio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stdio command as a relay to a running bridge. */
@Tag("stdio")
class StdioCommandIT {
  private static final String META =
      "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
          + "\"io.modelcontextprotocol/clientCapabilities\":{}}";

  @AutoClose private static TestBridge bridge;

  private Process relay;
  private BufferedWriter in;
  private BufferedReader out;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.of(
                "{'mcpServers':{'f':%s,'s':%s}}"
                    .formatted(NodeFixture.stdio(""), TestBridge.entry("")))
            .awaitReady("f", "s");
  }

  @BeforeEach
  void begin() throws Exception {
    relay =
        new ProcessBuilder(
                PackagedProgram.command("stdio", "--url", "http://127.0.0.1:" + bridge.port()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    in = relay.outputWriter();
    out = relay.inputReader();
  }

  @AfterEach
  void end() throws Exception {
    in.close();
    assertTrue(relay.waitFor(20, TimeUnit.SECONDS));
    assertEquals(0, relay.exitValue());
  }

  @Test
  void mirroredHeadersAreSentAfterTheToolsAreListed() throws Exception {
    request("tools/list", "");
    assertTrue(out.readLine().contains("f__test_x_mcp_header"));

    request("tools/call", "\"name\":\"f__test_x_mcp_header\",\"arguments\":{\"region\":\"grün\"},");

    String answer = out.readLine();
    assertTrue(answer.contains("\"text\":\"grün\""), answer);
  }

  @Test
  void mirroredHeadersAreSentWithoutAPriorList() throws Exception {
    request("tools/call", "\"name\":\"f__test_x_mcp_header\",\"arguments\":{\"region\":\"eu\"},");

    String answer = out.readLine();
    assertTrue(answer.contains("\"text\":\"eu\""), answer);
  }

  @Test
  void theResponseOfALongCallIsOneLine() throws Exception {
    send(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
            + "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}");
    assertTrue(out.readLine().contains("protocolVersion"));
    send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");

    send(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
            + "{\"name\":\"s__sleep\",\"arguments\":{\"ms\":6000}}}");

    assertTrue(out.readLine().contains("slept"));
  }

  @Test
  void aBatchIsRefusedAndTheNextMessageAccepted() throws Exception {
    send("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");

    assertTrue(out.readLine().contains("-32600"));
    request("server/discover", "");
    assertTrue(out.readLine().contains("supportedVersions"));
  }

  private void request(String method, String params) throws Exception {
    send(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s%s}}"
            .formatted(method, params, META));
  }

  private void send(String message) throws Exception {
    in.write(message + "\n");
    in.flush();
  }
}
