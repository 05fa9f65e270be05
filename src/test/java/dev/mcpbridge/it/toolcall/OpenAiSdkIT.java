package dev.mcpbridge.it.toolcall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ClientProgram;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Path;
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

    JsonNode output = ClientProgram.node(folder, "openai-loop.mjs", bridge.uri(""), mode);

    assertTrue(output.path("tools").asInt() > 20, output.toString());
    assertEquals("I heard slept, {\"text\":\"grüße\"}, xxx.", output.path("answer").asText());
    assertEquals(
        "[[\"system\",\"user\"],"
            + "[\"system\",\"user\",\"assistant\",\"tool\",\"tool\"],"
            + "[\"system\",\"user\",\"assistant\",\"tool\",\"tool\",\"assistant\",\"tool\"]]",
        output.path("turns").toString());
  }
}
