package dev.mcpbridge.it.agent;

import static dev.mcpbridge.fixture.PseudoTerminal.CTRL_C;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.PseudoTerminal;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ctrl-C cancels the current operation, but not the program and not the conversation. */
@Tag("agent")
class AgentInterruptsIT {
  @AutoClose
  private static final TestBridge bridge = TestBridge.scripted("'risk':{'tools':{'remember':2}}");

  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();
  @AutoClose private PseudoTerminal terminal;

  @BeforeEach
  void open() throws Exception {
    terminal = new AgentProgram(folder, bridge, model).startInTerminal(100);
  }

  private void assertContinues() throws Exception {
    model.thenText("Still here.");
    terminal.type("are you there?\r").await("Still here.");
    terminal.awaitPrompt();
    terminal.type("/quit\r");
    assertEquals(0, terminal.exit());
  }

  private static int pendingCalls() throws Exception {
    return bridge.get("/servers/s").body().path("pending_calls").asInt();
  }

  private static double answeredCalls() throws Exception {
    String series = "mcp_bridge_calls_total{outcome=\"answered\",server=\"s\"}";
    return MetricsText.values(bridge.get("/metrics").text(), series).sum();
  }

  @Test
  void ctrlCCancelsARequestToASilentModel() throws Exception {
    model.thenNoResponse();
    terminal.type("think\r").await("thinking");
    bridge.until(() -> model.requestBodies().size() == 1);

    terminal.type(CTRL_C).await("Stopped.");

    bridge.until(() -> model.disconnects() == 1);
    terminal.awaitPrompt();
    assertContinues();
    assertEquals(2, model.lastRequestBody().path("messages").size());
  }

  @Test
  void ctrlCCancelsRunningCalls() throws Exception {
    int cancels = Integer.parseInt(bridge.call("cancels", "{}").firstText());
    double before = answeredCalls();
    model.thenCalls("s__echo", "{\"m\":1}", "s__never", "{}");
    terminal.type("call\r").await("calling 2 tools");
    bridge.until(() -> answeredCalls() == before + 1 && pendingCalls() == 1);

    terminal.type(CTRL_C).await("Stopped.");

    bridge.until(() -> pendingCalls() == 0);
    bridge.until(() -> Integer.parseInt(bridge.call("cancels", "{}").firstText()) == cancels + 1);
    terminal.awaitPrompt();
    assertContinues();
    assertEquals(2, model.toolResults().size());
    assertTrue(model.toolResults().get(1).contains("stopped"), model.toolResults().get(1));
    assertTrue(model.toolResults().get(1).contains("not known"), model.toolResults().get(1));
  }

  @Test
  void ctrlCAtThePromptDiscardsTheInput() throws Exception {
    terminal.type("half a quest" + CTRL_C).await("/quit to quit");
    terminal.awaitPrompt();
    terminal.type(CTRL_C).await("/quit to quit");
    terminal.awaitPrompt();
    assertContinues();
    JsonNode messages = model.lastRequestBody().path("messages");
    assertEquals("are you there?", messages.at("/1/content").asText());
  }

  @Test
  void ctrlCAtAnApprovalRejectsTheCalls() throws Exception {
    model.thenCalls(
        "s__remember",
        "{\"text\":\"a\"}",
        "s__echo",
        "{\"m\":1}",
        "s__remember",
        "{\"text\":\"b\"}");
    terminal.type("remember\r").await("Run it?");

    terminal.type(CTRL_C).await("Stopped.");

    terminal.awaitPrompt();
    assertEquals(0, bridge.get("/confirmations").body().path("confirmations").size());
    assertContinues();
    assertEquals(3, model.toolResults().size());
    assertTrue(model.toolResults().get(0).contains("has not run"), model.toolResults().get(0));
    assertTrue(model.toolResults().get(1).contains("{\"m\":1}"), model.toolResults().get(1));
    assertTrue(model.toolResults().get(2).contains("has not run"), model.toolResults().get(2));
  }
}
