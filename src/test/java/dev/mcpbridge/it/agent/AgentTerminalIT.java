package dev.mcpbridge.it.agent;

import static dev.mcpbridge.fixture.PseudoTerminal.lines;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.PseudoTerminal;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.api.Git;
import org.jline.utils.WCWidth;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaged agent at a terminal. */
@Tag("agent")
class AgentTerminalIT {
  @TempDir static Path effects;
  @AutoClose private static TestBridge bridge;

  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();
  private AgentProgram agent;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.scripted(
            "'env':{'EFFECTS':'%s'},'risk':{'tools':{'effect':2,'remember':2}}"
                .formatted(effects.resolve("effects")));
  }

  @BeforeEach
  void open() throws Exception {
    Files.deleteIfExists(effects.resolve("effects"));
    agent = new AgentProgram(folder, bridge, model);
  }

  private static int runCount() throws Exception {
    Path file = effects.resolve("effects");
    return Files.exists(file) ? Files.readAllLines(file).size() : 0;
  }

  @Test
  void demonstrationRunsWithTheDefaultBridge() throws Exception {
    Path work = folder.resolve("work");
    try (Git git = Git.init().setDirectory(work.toFile()).call()) {
      Files.writeString(work.resolve("a.txt"), "one\n");
      git.add().addFilepattern(".").call();
      git.commit().setMessage("The first").setAuthor("Ann", "a@b.example").setSign(false).call();
      Files.writeString(work.resolve("a.txt"), "two\n");
      git.add().addFilepattern(".").call();
    }
    try (ServedBridge served = ServedBridge.in(folder)) {
      try (PseudoTerminal terminal =
          PseudoTerminal.start(
              100,
              folder,
              Map.of("XDG_STATE_HOME", folder.toString()),
              AgentProgram.command("--provider", "replay", "--url", served.url()))) {
        terminal.await(
            "Press Enter to ask: Which repository is this, and what was done in it lately?");
        terminal.awaitPrompt();
        terminal.type("\r").await("git__list_repositories");
        String answered = String.join("\n", lines(terminal.awaitPrompt()));
        assertTrue(answered.contains("This is work, on the branch ma"), answered);
        assertTrue(answered.contains("the newest by Ann: The first"), answered);
        assertTrue(answered.contains("Press Enter to ask: Commit what is staged"), answered);

        terminal.type("\r").await("with exactly these arguments:");
        terminal.await("Run it?");
        terminal.type("n\r").await("has refused this call");
        terminal.awaitPrompt();
        terminal.type("/quit\r");
        assertEquals(0, terminal.exit());
      }
      try (Git git = Git.open(work.toFile())) {
        assertEquals("The first", git.log().call().iterator().next().getFullMessage());
      }
    }
  }

  @Test
  void typedTextReplacesARecordedQuestion() throws Exception {
    Path written = folder.resolve("written.jsonl");
    try (PseudoTerminal terminal = replaying("--transcript", written.toString())) {
      terminal.type(PseudoTerminal.CTRL_C).await("/quit to quit");
      terminal.awaitPrompt();
      terminal.type("what else?\r").await("git__list_repositories");
      terminal.awaitPrompt();
      terminal.type("/quit\r");
      assertEquals(0, terminal.exit());
    }
    assertEquals("{\"user\":\"what else?\"}", Files.readAllLines(written).get(0));
    try (PseudoTerminal terminal = replaying()) {
      terminal.type(PseudoTerminal.CTRL_D);
      assertEquals(0, terminal.exit());
    }
  }

  /** Starts the recorded conversation and waits for its prompt. */
  private PseudoTerminal replaying(String... more) throws Exception {
    List<String> command =
        AgentProgram.command("--provider", "replay", "--url", bridge.uri("").toString());
    command.addAll(List.of(more));
    PseudoTerminal terminal =
        PseudoTerminal.start(100, folder, Map.of("XDG_STATE_HOME", folder.toString()), command);
    terminal.await("Press Enter to ask: ");
    terminal.awaitPrompt();
    return terminal;
  }

  @Test
  void approvalShowsEveryDigitOfTheArguments() throws Exception {
    model.thenCalls("s__remember", "{\"price\":1.10,\"id\":12345678901234567890}").thenText("Hm.");
    try (PseudoTerminal terminal = agent.startInTerminal(100)) {
      terminal.type("buy\r").await("exactly these arguments:");

      String prompt = terminal.await("Run it?");

      assertTrue(prompt.contains("{\"price\":1.10,\"id\":12345678901234567890}"), prompt);
      terminal.type("n\r").await("Hm.");
    }
  }

  @Test
  void approvedCallRunsOnceAndItsResultIsUsed() throws Exception {
    model
        .thenCalls("s__effect", "{\"steps\":0,\"a\":\"the argument\"}")
        .thenText("It is **done** now.");
    try (PseudoTerminal terminal = agent.startInTerminal(100)) {
      terminal.type("do it\r").await("→ s__effect");
      terminal.await("? effect of s needs your approval");
      String shown = terminal.await("Run it?");
      assertTrue(shown.contains("the argument"), shown);
      assertEquals(0, runCount());

      terminal.type("perhaps\r").await("Please answer y, n or a.");
      assertEquals(0, runCount());
      terminal.type("Y\r").await("← s__effect answered");

      String answered = String.join("\n", lines(terminal.awaitPrompt()));
      assertTrue(answered.contains("It is done now."), answered);
      assertTrue(answered.contains("22 tokens in, 14 out"), answered);
      assertEquals(1, runCount());
    }
    List<String> answers = model.toolResults();
    assertEquals(1, answers.size());
    assertTrue(answers.get(0).matches("(?s)<data (\\w+)>\\s*done\\s*</data \\1>"), answers.get(0));
    assertTrue(model.requestBodies().get(0).path("stream").asBoolean());
    assertEquals("Bearer " + AgentProgram.KEY, model.seen().get(0).header("authorization"));
  }

  @Test
  void alwaysApprovesOneToolUntilTheConversationIsCleared() throws Exception {
    model
        .thenCalls("s__effect", "{\"steps\":0}")
        .thenCalls("s__effect", "{\"steps\":0,\"other\":1}", "s__remember", "{\"text\":\"x\"}")
        .thenText("Both.")
        .thenCalls("s__effect", "{\"steps\":0}")
        .thenText("Not this time.");
    try (PseudoTerminal terminal = agent.startInTerminal(100)) {
      terminal.type("first\r").await("Run it?");
      terminal.type("a\r").await("← s__effect answered");
      String second = terminal.await("Run it?");
      assertFalse(second.contains("? effect of s"), second);
      assertTrue(second.contains("? remember of s needs your approval"), second);
      assertEquals(2, runCount());
      terminal.type("n\r").await("Both.");
      terminal.awaitPrompt();

      terminal.type("/clear\r").awaitPrompt();
      terminal.type("again\r").await("? effect of s needs your approval");
      terminal.await("Run it?");
      terminal.type("\r").await("Not this time.");
      assertEquals(2, runCount());
    }
    assertEquals(
        4, model.lastRequestBody().path("messages").size(), "the conversation was cleared");
  }

  @Test
  void rejectedCallDoesNotRunAndTheModelIsInformed() throws Exception {
    model.thenCalls("s__effect", "{}").thenText("You did not want it.");
    try (PseudoTerminal terminal = agent.startInTerminal(100)) {
      terminal.type("do it\r").await("Run it?");
      terminal.type("n\r").await("You did not want it.");
      terminal.awaitPrompt();
      terminal.type(PseudoTerminal.CTRL_D);
      assertEquals(0, terminal.exit());
    }
    assertEquals(0, runCount());
    assertTrue(
        model.toolResults().get(0).contains("The user has refused"), model.toolResults().get(0));
    assertEquals(0, bridge.get("/confirmations").body().path("confirmations").size());
  }

  @Test
  void slashCommandsWorkAndASavedConversationReplays() throws Exception {
    model.thenCalls("s__echo", "{\"m\":\"hello\"}").thenText("It said hello.");
    Path saved = folder.resolve("saved.jsonl");
    try (PseudoTerminal terminal = agent.startInTerminal(100)) {
      terminal.type("/help\r").await("Ctrl-C cancels the current operation");
      terminal.type("/tools\r").await("s echo ");
      terminal.await("Plays echo.");
      terminal.awaitPrompt();
      terminal.type("/servers\r").await("ready");
      terminal.type("/model\r").await("gpt-5-mini at " + model.base());
      terminal.type("/model another\r").await("another at " + model.base());
      terminal.type("/nonsense\r").await("Unknown command /nonsense");
      terminal.type("/save\r").await("/save FILE");
      terminal.type("/save " + folder + "/none/x\r").await("cannot be written");
      terminal.awaitPrompt();
      terminal.type("say hello\r").await("It said hello.");
      assertEquals("another", model.lastRequestBody().path("model").asText());
      terminal.awaitPrompt();
      terminal.type("/save " + saved + "\r").await("Saved to");
      terminal.awaitPrompt();
      terminal.type("/exit\r");
      assertEquals(0, terminal.exit());
    }
    try (PseudoTerminal terminal =
        PseudoTerminal.start(
            100,
            folder,
            Map.of("XDG_STATE_HOME", folder.toString()),
            AgentProgram.command(
                "-p", "replay", "--replay", saved.toString(), "-u", bridge.uri("").toString()))) {
      terminal.await("say hello");
      terminal.type("\r").await("\"hello\"");
      terminal.await("It said hello.");
    }
    assertTrue(Files.readString(agent.history()).contains("say hello"));
  }

  @Test
  void outputFitsIntoANarrowTerminal() throws Exception {
    String markdown =
        "A sentence that is rather longer than forty columns, with `code` and **bold** words and"
            + " 日本語の長い文章も少し入れておく ここで終わる。\n\n"
            + "- an entry of a list that does not fit into a single line of this terminal\n"
            + "  1. another one within it that is just as long as the first one was\n\n"
            + "| column | and another one |\n|---|---|\n| a long cell in here | and another |\n";
    model
        .thenCalls("s__echo", "{\"member\":\"a value\",\"other\":{\"member\":[1,2,3],\"x\":true}}")
        .thenText(markdown);
    try (PseudoTerminal terminal = agent.startInTerminal(40)) {
      terminal.type("show\r").await("← s__echo answered");
      String shown = terminal.awaitPrompt();
      terminal.type("/tools\r");
      String tools = terminal.awaitPrompt();
      for (String line : lines(shown + tools)) {
        assertTrue(columns(line) <= 40, line);
      }
      assertTrue(lines(shown).stream().anyMatch(line -> line.startsWith("• an entry")), shown);
    }
  }

  private static int columns(String line) {
    return line.codePoints().map(c -> Math.max(0, WCWidth.wcwidth(c))).sum();
  }

  @Test
  void terminalOfUnknownSizeAcceptsInput() throws Exception {
    model.thenText("There is room.");
    try (PseudoTerminal terminal = agent.startInTerminal(0)) {
      String shown = terminal.type("is there room?\r").await("There is room.");
      assertTrue(shown.contains("> is there room?"), shown);
    }
  }

  @Test
  void conversationContinuesAfterAModelFailure() throws Exception {
    model.thenError(400, "no such model").thenText("Here I am.");
    try (PseudoTerminal terminal = agent.startInTerminal(100)) {
      terminal.type("hello\r").await("no such model");
      terminal.awaitPrompt();
      terminal.type("hello again\r").await("Here I am.");
    }
    JsonNode messages = model.lastRequestBody().path("messages");
    assertEquals(2, messages.size(), "the failed question is not kept");
    assertEquals("hello again", messages.at("/1/content").asText());
  }
}
