package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.ClientProgram;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Third-party MCP clients, used as by their users. */
@Tag("mcp")
class SdkClientsIT {
  @AutoClose
  private static final TestBridge bridge =
      TestBridge.of(
          "{'mcpServers':{'s':%s,'other':%s}}"
              .formatted(TestBridge.entry(""), TestBridge.entry("'risk':{'tools':{'big':2}}")));

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "auto"})
  void theTypeScriptSdkWorks(String mode) throws Exception {
    check(ClientProgram.node(folder, "client.mjs", bridge.uri("/mcp"), mode));
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "auto"})
  void thePythonSdkWorks(String mode) throws Exception {
    check(ClientProgram.python(folder, "client.py", bridge.uri("/mcp"), mode));
  }

  @Test
  void theOpenAiAgentsSdkWorksOverHttpSse() throws Exception {
    JsonNode result = ClientProgram.python(folder, "agents_sse.py", bridge.uri("/servers/s/sse"));

    assertTrue(result.path("tools").asInt() > 20, result.toString());
    assertEquals("grüße", result.at("/echo/structuredContent/text").asText(), result.toString());
  }

  /** supergateway connects a stdio client to an HTTP+SSE server. */
  @Test
  void supergatewayWorksOverHttpSse() throws Exception {
    Process gateway =
        new ProcessBuilder(
                Requirements.node().toString(),
                Requirements.npmProgram("supergateway/dist/index.js").toString(),
                "--sse",
                bridge.uri("/sse").toString(),
                "--logLevel",
                "none")
            .redirectError(folder.resolve("err").toFile())
            .start();
    try (BufferedReader out = gateway.inputReader();
        BufferedWriter in = gateway.outputWriter()) {
      JsonNode initializeResult =
          send(
              in,
              out,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                  + "\"protocolVersion\":\"2024-11-05\",\"capabilities\":{},"
                  + "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}");
      JsonNode callResult =
          send(
              in,
              out,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                  + "\"name\":\"s__echo\",\"arguments\":{\"a\":1}}}");

      assertEquals(
          "2024-11-05",
          initializeResult.at("/result/protocolVersion").asText(),
          initializeResult.toString());
      assertEquals(1, callResult.at("/result/structuredContent/a").asInt(), callResult.toString());
    } finally {
      gateway.destroyForcibly().waitFor();
    }
  }

  private JsonNode send(BufferedWriter in, BufferedReader out, String message) throws Exception {
    in.write(message + "\n");
    in.flush();
    CompletableFuture<String> line = Background.call(() -> out.readLine());
    return Json.mapper().readTree(line.get(30, TimeUnit.SECONDS));
  }

  private static void check(JsonNode result) {
    assertTrue(result.path("tools").asInt() > 20, result.toString());
    assertEquals("grüße", result.at("/echo/structuredContent/text").asText(), result.toString());
    assertEquals("xxx", result.at("/gated/content/0/text").asText(), result.toString());
    assertEquals(1, result.path("asked").size(), result.toString());
    assertTrue(result.at("/asked/0").asText().contains("{\"size\":3}"), result.toString());
  }
}
