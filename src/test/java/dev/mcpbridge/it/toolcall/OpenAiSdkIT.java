package dev.mcpbridge.it.toolcall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tool loop of a program that uses OpenAI's official SDK, with a scripted model. */
@Tag("toolcall")
class OpenAiSdkIT {
  @AutoClose private static final TestBridge bridge = TestBridge.scripted("");

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"create", "stream"})
  void twoTurnsOfToolCallsLeadToAFinalAnswer(String mode) throws Exception {
    Requirements.npmProgram("openai/package.json");

    JsonNode output =
        run(
            Requirements.node().toString(),
            Requirements.nodeServer("openai-loop.mjs").toString(),
            bridge.uri("").toString(),
            mode);

    assertTrue(output.path("tools").asInt() > 20, output.toString());
    assertEquals("I heard slept, {\"text\":\"grüße\"}, xxx.", output.path("answer").asText());
    assertEquals(
        "[[\"system\",\"user\"],"
            + "[\"system\",\"user\",\"assistant\",\"tool\",\"tool\"],"
            + "[\"system\",\"user\",\"assistant\",\"tool\",\"tool\",\"assistant\",\"tool\"]]",
        output.path("turns").toString());
  }

  private JsonNode run(String... command) throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the program did not exit in time");
    } finally {
      process.destroyForcibly();
    }
    assertEquals(0, process.exitValue(), Files.readString(err));
    return Json.mapper().readTree(Files.readString(out));
  }
}
