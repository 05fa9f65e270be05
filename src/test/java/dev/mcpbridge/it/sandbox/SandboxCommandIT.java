package dev.mcpbridge.it.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of {@code sandbox check}. */
@Tag("sandbox")
class SandboxCommandIT {
  @TempDir Path folder;

  private record CommandResult(int exit, String text) {}

  @Test
  void everyServerIsCheckedAndProblemsAreReported() throws Exception {
    Engine engine = Engine.local();
    String validEntry = "'good':{'docker':{'image':'" + Engine.IMAGE + "'}}";
    String missingImage = "'bad':{'docker':{'image':'mcp-bridge-test/absent'}}";
    String missingRuntime =
        "'odd':{'docker':{'image':'" + Engine.IMAGE + "','runtime':'no-such-runtime'}}";

    CommandResult success = check("{'mcpServers':{" + validEntry + "}}");
    CommandResult failure =
        check("{'mcpServers':{" + missingImage + "," + missingRuntime + "," + validEntry + "}}");

    assertEquals(0, success.exit(), success.text());
    assertTrue(success.text().contains("engine: unix://"), success.text());
    assertTrue(success.text().contains("runtimes: "), success.text());
    assertTrue(
        success.text().contains("good (" + Engine.IMAGE + "): a container starts"), success.text());
    assertEquals(1, failure.exit(), failure.text());
    assertTrue(
        failure.text().contains("bad (mcp-bridge-test/absent): The container engine has no image"),
        failure.text());
    assertTrue(
        failure.text().contains("odd (" + Engine.IMAGE + "): The container engine refused"),
        failure.text());
    assertTrue(
        failure.text().contains("good (" + Engine.IMAGE + "): a container starts"), failure.text());
    assertEquals("", engine.execute("ps", "-aq", "--filter", "name=mcp-bridge-good"));
  }

  @Test
  void aMissingEngineIsReported() throws Exception {
    CommandResult result =
        check(
            "{'sandbox':{'engine':'unix://%s'},'mcpServers':{'s':{'docker':{'image':'x'}}}}"
                .formatted(folder.resolve("missing.sock")));

    assertEquals(1, result.exit());
    assertTrue(result.text().startsWith("No container engine answers at unix://"), result.text());
  }

  private CommandResult check(String config) throws Exception {
    Path file = folder.resolve("bridge.json");
    Files.writeString(file, TestBridge.json(config));
    Process process =
        new ProcessBuilder(PackagedProgram.command("sandbox", "check", "--config", file.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new CommandResult(process.waitFor(), text);
  }
}
