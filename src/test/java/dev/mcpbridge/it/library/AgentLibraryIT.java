package dev.mcpbridge.it.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.api.Agent;
import dev.mcpbridge.api.Agent.Answer;
import dev.mcpbridge.api.Model;
import dev.mcpbridge.api.Outcome.ConfirmationRequired;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The loop of the agent, within a program, with real servers and a scripted model. */
@Tag("program")
class AgentLibraryIT {
  private static final String HELD =
      "{'mcpServers':{'s':" + TestBridge.entry("'risk':{'tools':{'effect':2}}") + "}}";

  private static Model model(ScriptedModel scripted) {
    return new Model(Model.Api.OPENAI, URI.create(scripted.base()), "secret-key", "scripted");
  }

  @Test
  void modelCallsToolsUntilItAnswers() throws Exception {
    try (HostProgram program = HostProgram.with(HELD);
        ScriptedModel scripted = ScriptedModel.start()) {
      scripted
          .thenCalls("s__echo", "{\"word\":\"eins\"}", "s__echo", "{\"word\":\"zwei\"}")
          .thenText("done");

      Answer answer = new Agent(model(scripted), program.bridge().tools()).ask("Say both.");

      String results = String.join("\n", scripted.toolResults());
      assertEquals(new Answer("done", Agent.End.ANSWERED, 2), answer);
      assertTrue(results.contains("eins") && results.contains("zwei"), results);
    }
  }

  @Test
  void heldCallRunsOnlyIfTheProgramApprovesExactlyWhatItIsShown() throws Exception {
    try (HostProgram program = HostProgram.with(HELD);
        ScriptedModel scripted = ScriptedModel.start()) {
      List<ConfirmationRequired> shown = new ArrayList<>();
      Agent agent =
          new Agent(
              model(scripted),
              program.bridge().tools(),
              call -> {
                shown.add(call);
                return call.arguments().contains("yes");
              });
      scripted
          .thenCalls("s__effect", "{\"id\":\"yes\"}", "s__effect", "{\"id\":\"no\"}")
          .thenText("done");

      agent.ask("Do both.");

      String results = String.join("\n", scripted.toolResults());
      assertEquals(
          List.of("{\"id\":\"yes\"}", "{\"id\":\"no\"}"),
          shown.stream().map(ConfirmationRequired::arguments).toList());
      assertTrue(results.contains("The user has refused this call"), results);
    }
  }

  @Test
  void approvedCallOfAnInterruptedProgramDoesNotRun(@TempDir Path folder) throws Exception {
    EffectLog effects = new EffectLog(folder);
    String config = TestBridge.json("{'mcpServers':{" + effects.gatedServer("s") + "}}");
    try (HostProgram program = HostProgram.with(config);
        ScriptedModel scripted = ScriptedModel.start()) {
      Agent agent =
          new Agent(
              model(scripted),
              program.bridge().tools(),
              call -> {
                Thread.currentThread().interrupt();
                return true;
              });
      scripted.thenCalls("s__effect", "{\"note\":\"s 1\"}");

      assertThrows(InterruptedException.class, () -> agent.ask("Do it."));

      Thread.interrupted();
      Agent patient = new Agent(model(scripted), program.bridge().tools(), call -> true);
      scripted.thenCalls("s__effect", "{\"note\":\"s 2\"}").thenText("done");
      patient.ask("Do another.");
      assertEquals(1, effects.count("2"));
      assertEquals(0, effects.count("1"));
    }
  }

  @Test
  void keyOfTheModelIsNotShownAndAMissingOneIsRefused() {
    Model model = new Model(Model.Api.OPENAI, URI.create("http://127.0.0.1:1/v1"), "k-1", "m");

    assertFalse(model.toString().contains("k-1"), model.toString());
    assertThrows(
        IllegalArgumentException.class, () -> new Model(Model.Api.ANTHROPIC, null, null, null));
    assertThrows(
        IllegalArgumentException.class, () -> new Model(Model.Api.OPENAI, null, "a\nb", null));
  }
}
