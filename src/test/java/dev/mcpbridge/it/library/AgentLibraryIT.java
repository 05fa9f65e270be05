package dev.mcpbridge.it.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.api.Agent;
import dev.mcpbridge.api.Agent.Answer;
import dev.mcpbridge.api.Model;
import dev.mcpbridge.api.Outcome.ConfirmationRequired;
import dev.mcpbridge.api.Tools;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.Threads;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

  /** The event loop is busy, so that the interrupt comes before the decision is known. */
  @Test
  void callOfAProgramThatIsInterruptedWhileItsDecisionIsOnTheWayDoesNotRun(@TempDir Path folder)
      throws Exception {
    EffectLog effects = new EffectLog(folder);
    String config = TestBridge.json("{'mcpServers':{" + effects.gatedServer("s") + "}}");
    CountDownLatch isBusy = new CountDownLatch(1);
    CountDownLatch isInterrupted = new CountDownLatch(1);
    try (HostProgram program = HostProgram.with(config);
        ScriptedModel scripted = ScriptedModel.start()) {
      Tools tools = program.bridge().tools();
      Agent agent =
          new Agent(
              model(scripted),
              tools,
              call -> {
                tools.call("s__echo", "{}").onComplete(done -> keepBusy(isBusy, isInterrupted));
                await(isBusy);
                return true;
              });
      scripted.thenCalls("s__effect", "{\"note\":\"s 1\"}");
      CompletableFuture<Throwable> end = new CompletableFuture<>();
      Thread asking =
          new Thread(
              () -> end.complete(assertThrows(Exception.class, () -> agent.ask("Do it."))), "ask");

      asking.start();
      await(isBusy);
      Threads.awaitFuture(asking, "approve");
      asking.interrupt();
      Threads.awaitFuture(asking, "reject");
      isInterrupted.countDown();
      assertInstanceOf(InterruptedException.class, end.get(20, TimeUnit.SECONDS));

      Agent patient = new Agent(model(scripted), tools, call -> true);
      scripted.thenCalls("s__effect", "{\"note\":\"s 2\"}").thenText("done");
      patient.ask("Do another.");
      assertEquals(1, effects.count("2"));
      assertEquals(0, effects.count("1"));
    }
  }

  private static void keepBusy(CountDownLatch begun, CountDownLatch end) {
    begun.countDown();
    await(end);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(20, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
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
