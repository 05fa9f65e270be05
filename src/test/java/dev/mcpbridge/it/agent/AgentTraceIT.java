package dev.mcpbridge.it.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.AgentProgram;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.SpanReceiver.Received;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One trace from the question to the tool. */
@Tag("agent")
class AgentTraceIT {
  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();

  @Test
  void aQuestionIsOneTraceWithTheModelAndTheCallsOfTheBridge() throws Exception {
    // Given
    try (SpanReceiver collector = new SpanReceiver();
        TestBridge bridge = collector.bridge(TestBridge.entry(""))) {
      model.thenCalls("s__echo", "{\"m\":1}").thenText("Done.");
      AgentProgram agent =
          new AgentProgram(folder, bridge, model)
              .with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());

      // When
      AgentProgram.Result result = agent.run("--once", "Do it.");

      // Then
      assertEquals(0, result.status(), result.toString());
      Received question = collector.await(bridge, s -> s.name().equals("invoke_agent"));
      bridge.until(() -> collector.trace(question.trace()).size() >= 7);
      List<Received> trace = collector.trace(question.trace());
      List<Received> chats = trace.stream().filter(s -> s.name().startsWith("chat ")).toList();
      assertEquals(2, chats.size(), trace.toString());
      assertTrue(
          chats.stream()
              .allMatch(s -> s.parent().equals(question.id()) && s.kind().equals("CLIENT")));
      assertEquals("openai", chats.get(0).get("gen_ai.provider.name"));
      assertEquals("chat " + chats.get(0).get("gen_ai.request.model"), chats.get(0).name());
      assertFalse(chats.get(0).name().contains("://"), chats.get(0).name());
      assertEquals("11", chats.get(0).get("gen_ai.usage.input_tokens"));
      Received turn = only(trace, "POST /toolcall");
      assertEquals(question.id(), turn.parent());
      assertEquals(turn.id(), only(trace, "tools/call echo").parent());
      assertEquals("mcp-bridge-agent", question.resource().get("service.name"));
      assertEquals("mcp-bridge", turn.resource().get("service.name"));
    }
  }

  @Test
  void aVariableThatIsNotUnderstoodIsNamedAndNothingIsAsked() throws Exception {
    AgentProgram agent =
        new AgentProgram(folder, "http://127.0.0.1:9", model.base(), Map.of())
            .with("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
            .with("OTEL_BSP_MAX_QUEUE_SIZE", "many");

    AgentProgram.Result result = agent.run("--once", "Do it.");

    assertEquals(1, result.status());
    assertTrue(result.err().startsWith("Traces: "), result.err());
    assertTrue(result.err().contains("otel.bsp.max.queue.size=many"), result.err());
    assertEquals(1, result.err().lines().count(), result.err());
  }

  @Test
  void aCollectorThatIsAbsentDoesNotDisturbTheAgent() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      model.thenCalls("s__echo", "{\"m\":1}").thenText("Done.");
      AgentProgram agent =
          new AgentProgram(folder, bridge, model)
              .with("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");

      AgentProgram.Result result = agent.run("--once", "Do it.");

      assertEquals(0, result.status(), result.toString());
      assertEquals("Done.\n", result.out());
    }
  }

  private static Received only(List<Received> trace, String name) {
    List<Received> found = trace.stream().filter(s -> s.name().equals(name)).toList();
    assertEquals(1, found.size(), trace.toString());
    return found.get(0);
  }
}
