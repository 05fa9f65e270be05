package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code sandbox check} says to whoever types it. */
class SandboxCommandIT {
  @TempDir Path folder;

  private record Said(int exit, String text) {}

  @Test
  void everyServerIsProvenAndWhatIsWrongIsSaid() throws Exception {
    Engine engine = Engine.there();
    String good = "'good':{'docker':{'image':'" + Engine.IMAGE + "'}}";
    String bad = "'bad':{'docker':{'image':'mcp-bridge-test/absent'}}";
    String odd = "'odd':{'docker':{'image':'" + Engine.IMAGE + "','runtime':'no-such-runtime'}}";

    Said well = check("{'mcpServers':{" + good + "}}");
    Said wrong = check("{'mcpServers':{" + bad + "," + odd + "," + good + "}}");

    assertEquals(0, well.exit(), well.text());
    assertTrue(well.text().contains("engine: unix://"), well.text());
    assertTrue(well.text().contains("runtimes: "), well.text());
    assertTrue(
        well.text().contains("good (" + Engine.IMAGE + "): a container starts"), well.text());
    assertEquals(1, wrong.exit(), wrong.text());
    assertTrue(
        wrong.text().contains("bad (mcp-bridge-test/absent): The container engine has no image"),
        wrong.text());
    assertTrue(
        wrong.text().contains("odd (" + Engine.IMAGE + "): The container engine refused"),
        wrong.text());
    assertTrue(
        wrong.text().contains("good (" + Engine.IMAGE + "): a container starts"), wrong.text());
    assertEquals("", engine.say("ps", "-aq", "--filter", "name=mcp-bridge-good"));
  }

  @Test
  void anEngineThatIsNotThereIsSaid() throws Exception {
    Said said =
        check(
            "{'sandbox':{'engine':'unix://"
                + folder.resolve("nobody.sock")
                + "'},'mcpServers':{'s':{'docker':{'image':'x'}}}}");

    assertEquals(1, said.exit());
    assertTrue(said.text().startsWith("No container engine answers at unix://"), said.text());
  }

  private Said check(String config) throws Exception {
    Path file = folder.resolve("bridge.json");
    Files.writeString(file, TestBridge.json(config));
    Process process =
        new ProcessBuilder(
                TestBridge.java(),
                "-jar",
                System.getProperty("bridge.jar"),
                "sandbox",
                "check",
                "--config",
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Said(process.waitFor(), text);
  }
}
