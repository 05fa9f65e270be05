package dev.mcpbridge.it.agent;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.PseudoTerminal;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control sequences in texts of models and tools are shown as escapes at the terminal. */
@Tag("agent")
class AgentInjectionIT {
  /** Clear, title, bell, overwrite, backspace, direction, invisible and 8-bit CSI characters. */
  private static final String ATTACK =
      "\u001b[2Jx\u001b]0;owned\u0007y\rz\b\b\u202eabc\u202c\u200b\u2066\u009b31m\u0085\u2028e";

  private static final Pattern CONTROLS =
      Pattern.compile("[\u0007\b\u202e\u202c\u200b\u2066\u009b\u0085\u2028]|\u001b\\[2J|\u001b]0");

  @AutoClose
  private static final TestBridge bridge = TestBridge.scripted("'risk':{'tools':{'remember':2}}");

  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();
  @AutoClose private PseudoTerminal terminal;

  @BeforeEach
  void open() throws Exception {
    terminal = new AgentProgram(folder, bridge, model).startInTerminal(100);
  }

  private static void assertHarmless(String shown) {
    assertFalse(CONTROLS.matcher(shown).find(), PseudoTerminal.visible(shown));
    assertFalse(shown.replace("\r\n", "\n").contains("y\rz"), PseudoTerminal.visible(shown));
    String lower = shown.toLowerCase(Locale.ROOT);
    assertTrue(lower.contains("\\u001b[2jx\\u001b]0;owned\\u0007y"), shown);
    assertTrue(lower.contains("\\u202eabc\\u202c"), shown);
  }

  private static String json(String name, String text) {
    return Json.mapper().createObjectNode().put(name, text).toString();
  }

  @Test
  void textOfTheModelIsEscaped() throws Exception {
    model.thenText("I say " + ATTACK + "\n\n```\n" + ATTACK + "\n```\n\n| a |\n|---|\n| " + ATTACK);
    terminal.type("speak\r").await("I say");
    assertHarmless(terminal.await("tokens in"));
  }

  @Test
  void entitiesInTextOfTheModelAreEscaped() throws Exception {
    StringBuilder entities = new StringBuilder();
    ATTACK.chars().forEach(c -> entities.append("&#").append(c).append(';'));
    model.thenText("I say " + entities + "\n\n[x](<" + entities + ">) `y`\n\n# " + entities);
    terminal.type("speak\r").await("I say");
    assertHarmless(terminal.await("tokens in"));
  }

  @Test
  void argumentsOfACallAreEscaped() throws Exception {
    model.thenCalls("s__echo", json("m", ATTACK)).thenText("Done.");
    terminal.type("call\r").await("→ s__echo");
    assertHarmless(terminal.await("Done."));
  }

  @Test
  void nameOfACallIsEscaped() throws Exception {
    model.thenCalls("s__" + ATTACK, "{}").thenText("Done.");
    terminal.type("call\r").await("→ s__");
    assertHarmless(terminal.await("Done."));
  }

  @Test
  void invalidArgumentsAreEscaped() throws Exception {
    model.thenCalls("s__echo", "{" + ATTACK).thenText("Done.");
    terminal.type("call\r").await("→ s__echo");
    assertHarmless(terminal.await("Done."));
  }

  @Test
  void resultOfAToolIsEscaped() throws Exception {
    model.thenCalls("s__remember", json("text", ATTACK)).thenText("Done.");
    terminal.type("call\r").await("with exactly these arguments");
    assertHarmless(terminal.await("Run it?"));
    terminal.type("y\r").await("answered");
    assertHarmless(terminal.await("Done."));
  }

  @Test
  void errorOfTheProviderIsEscaped() throws Exception {
    model.thenError(400, ATTACK.replace("\r", ""));
    terminal.type("call\r").await("status 400");
    String shown = terminal.awaitPrompt();
    assertFalse(CONTROLS.matcher(shown).find(), PseudoTerminal.visible(shown));
  }
}
