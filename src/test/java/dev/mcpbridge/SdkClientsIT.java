package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Needs;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that others wrote, as their users would use them. */
class SdkClientsIT {
  private static TestBridge bridge;

  @TempDir Path folder;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.of(
            "{'mcpServers':{'s':"
                + TestBridge.entry("")
                + ",'other':"
                + TestBridge.entry("'risk':{'tools':{'big':2}}")
                + "}}");
  }

  @AfterAll
  static void stop() throws Exception {
    bridge.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "auto"})
  void typeScript(String mode) throws Exception {
    check(
        run(
            Needs.node().toString(),
            Needs.nodeServer("client.mjs").toString(),
            bridge.uri("/mcp").toString(),
            mode));
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "auto"})
  void python(String mode) throws Exception {
    check(
        run(
            Needs.pythonServer("python").toString(),
            "src/test/python/client.py",
            bridge.uri("/mcp").toString(),
            mode));
  }

  private static void check(JsonNode said) {
    assertTrue(said.path("tools").asInt() > 20, said.toString());
    assertEquals("grüße", said.at("/echo/structuredContent/text").asText(), said.toString());
    assertEquals("xxx", said.at("/gated/content/0/text").asText(), said.toString());
    assertEquals(1, said.path("asked").size(), said.toString());
    assertTrue(said.at("/asked/0").asText().contains("{\"size\":3}"), said.toString());
  }

  private JsonNode run(String... command) throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the client did not end");
    assertEquals(0, process.exitValue(), Files.readString(err));
    return Json.mapper().readTree(Files.readString(out));
  }
}
