package dev.mcpbridge.it.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.PseudoTerminal;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Credentials that the user of the terminal enters at a page of the bridge. */
@Tag("agent")
class AgentLoginIT {
  private static final String SECRET = "t0ken-that-is-never-shown";
  private static final String LINK = "https://login.example/start";

  @TempDir Path folder;
  @AutoClose private EchoApi api;
  @AutoClose private TestBridge bridge;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();
  @AutoClose private PseudoTerminal terminal;
  private Path transcript;

  @BeforeEach
  void start() throws Exception {
    api =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/mine", "mine", "").asScript())
            .on("/mine", EchoApi.requiring("Bearer " + SECRET));
    bridge =
        TestBridge.of(
                "{'mcpServers':{'s':%s,'login':{'type':'openapi','url':'%s','authUrl':'%s'}}}"
                    .formatted(TestBridge.entry(""), api.url("/openapi.json"), LINK))
            .awaitReady("s", "login");
    transcript = folder.resolve("transcript.jsonl");
    terminal =
        new AgentProgram(folder, bridge, model)
            .startInTerminal(100, "--transcript", transcript.toString());
  }

  @Test
  void enteredCredentialIsStoredOnlyAtTheBridge() throws Exception {
    model
        .thenCalls("login__mine", "{}")
        .thenText("You are in.")
        .thenCalls("login__mine", "{}")
        .thenText("Again.");
    String asked = terminal.type("who am I?\r").await("Press Enter when you have agreed there");
    assertTrue(asked.contains("? login needs your consent"), asked);
    String link = asked.replaceAll("(?s).*(http://\\S+/connect/[\\w-]+).*", "$1");
    HttpResponse<String> page = new ConsentBrowser().connect(link, Map.of("credential", SECRET));
    assertEquals(200, page.statusCode(), page.body());

    terminal.type("\r").await("← login__mine answered");

    terminal.await("granted");
    terminal.await("You are in.");
    terminal.awaitPrompt();
    String again = terminal.type("and now?\r").await("Again.");
    assertFalse(again.contains("/connect/"), again);
    terminal.awaitPrompt();
    terminal.type("/save " + folder.resolve("saved") + "\r").await("Saved to");
    terminal.awaitPrompt();
    terminal.type("/quit\r");
    assertEquals(0, terminal.exit());

    assertEquals(3, api.requests("/mine").size());
    assertFalse(terminal.all().contains(SECRET), "the credential is shown");
    assertFalse(model.seen().toString().contains(SECRET));
    for (EchoApi.Request request : model.seen()) {
      assertFalse(request.text().contains(SECRET), "the model received the credential");
    }
    for (Path file :
        new Path[] {transcript, folder.resolve("saved"), folder.resolve("state/mcp-bridge")}) {
      if (Files.isDirectory(file)) {
        file = file.resolve("agent-history");
        assertTrue(Files.readString(file).contains("who am I?"));
      }
      assertFalse(Files.readString(file).contains(SECRET), file + " contains it");
    }
    assertTrue(model.toolResults().get(0).contains("granted"), model.toolResults().get(0));
  }

  @Test
  void modelIsInformedIfTheUserDoesNotLogIn() throws Exception {
    model
        .thenCalls("login__mine", "{}")
        .thenText("As you like.")
        .thenCalls("login__mine", "{}")
        .thenText("Hm.");
    terminal.type("who am I?\r").await("Press Enter when you have agreed there");
    terminal.type("n\r").await("As you like.");
    assertTrue(model.toolResults().get(0).contains("requires its user's own credential"));
    terminal.awaitPrompt();

    terminal.type("again\r").await("Press Enter when you have agreed there");
    terminal.type(PseudoTerminal.CTRL_C).await("Stopped.");
    terminal.awaitPrompt();
    terminal.type("and?\r").await("Hm.");
    assertTrue(model.toolResults().get(1).contains("has not run"), model.toolResults().get(1));
    assertEquals(2, api.requests("/mine").size());
  }
}
