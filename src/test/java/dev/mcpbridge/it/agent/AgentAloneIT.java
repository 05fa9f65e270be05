package dev.mcpbridge.it.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent with an embedded bridge, and as a library. */
@Tag("agent")
class AgentAloneIT {
  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();

  private record Exit(int status, String out, String err) {}

  private Exit run(List<String> command) throws IOException, InterruptedException {
    Path err = folder.resolve("stderr");
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("OPENAI_API_KEY", AgentProgram.KEY);
    builder.environment().remove("MCP_BRIDGE_URL");
    Process process = builder.redirectError(err.toFile()).start();
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(30, TimeUnit.SECONDS), "the agent did not exit");
    return new Exit(process.exitValue(), out, Files.readString(err));
  }

  private List<String> asking(String question, String... more) {
    List<String> command = new ArrayList<>(AgentProgram.command(more));
    command.addAll(List.of("-p", "openai", "--base-url", model.base(), "--once", question));
    return command;
  }

  private static long gitServers(Path root) {
    return ProcessHandle.allProcesses()
        .map(process -> String.join(" ", process.info().arguments().orElse(new String[0])))
        .filter(line -> line.contains("git-server") && line.contains(root.toString()))
        .count();
  }

  @Test
  void embeddedBridgeRunsWhileTheConversationLasts() throws Exception {
    // Given
    Path config = folder.resolve("bridge.json");
    Files.writeString(
        config,
        "{\"mcpServers\":{\"git\":{\"builtin\":\"git\",\"args\":[\"--root\",\"%s\"]}}}"
            .formatted(folder));
    model.thenCalls("git__list_repositories", "{}").thenText("No repositories.");

    // When
    Exit exit = run(asking("Which repositories are there?", "--config", config.toString()));

    // Then
    assertEquals(0, exit.status(), exit.toString());
    assertEquals("No repositories.\n", exit.out());
    assertTrue(model.toolResults().get(0).contains("repositories"), model.toolResults().toString());
    assertEquals(0, gitServers(folder), "the Git server is still running");
  }

  @Test
  void invalidConfigurationIsReportedWithItsKey() throws Exception {
    Path config = folder.resolve("bridge.json");
    Files.writeString(
        config, "{\"mcpServers\":{\"git\":{\"comand\":\"x\"}},\"http\":{\"port\":\"y\"}}");

    Exit exit = run(asking("Hello?", "--config", config.toString()));

    assertEquals(1, exit.status(), exit.toString());
    assertTrue(exit.err().contains("http.port"), exit.err());
    assertTrue(model.requestBodies().isEmpty());
    assertFalse(exit.err().contains("Exception"), exit.err());
  }

  @Test
  void exampleOfTheLibraryRuns() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      model.thenCalls("s__echo", "{\"m\":\"1\"}").thenText("One.").thenText("Two.");

      Exit exit =
          run(
              List.of(
                  TestBridge.java(),
                  "-cp",
                  System.getProperty("bridge.jar"),
                  Path.of("src/demo/agent/AgentExample.java").toAbsolutePath().toString(),
                  model.base(),
                  "any",
                  bridge.uri("").toString()));

      assertEquals("One.\nTwo.\n", exit.out(), exit.err());
      assertEquals(
          "user assistant tool assistant user",
          java.util.stream.StreamSupport.stream(
                  model.lastRequestBody().path("messages").spliterator(), false)
              .map(message -> message.path("role").asText())
              .filter(role -> !role.equals("system"))
              .collect(Collectors.joining(" ")));
    }
  }
}
