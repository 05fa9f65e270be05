package dev.mcpbridge.agent;

import static dev.mcpbridge.agent.ScriptedModel.calls;
import static dev.mcpbridge.agent.ScriptedModel.ends;
import static dev.mcpbridge.agent.ScriptedModel.says;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.llm.ChatRequest;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.trace.Tracer;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The agent with a scripted model and a scripted bridge. */
@Timeout(60)
class AgentTest {
  private static final AgentLimits LIMITS = new AgentLimits(3, 40);

  private final ScriptedModel model = new ScriptedModel();
  private final List<String> transcript = new ArrayList<>();
  private EchoApi bridge;

  @BeforeEach
  void start() throws Exception {
    bridge = EchoApi.start();
    bridge.on("/toolcall/tools", respondWith("{'tools':[{}]}"));
    bridge.on("/toolcall", AgentTest::run);
    bridge.on("/confirmations/c1", respondWith(text("dropped")));
  }

  @AfterEach
  void stop() throws Exception {
    bridge.close();
  }

  /** Each function returns its own name, except risky (pending), broken (failed) and long. */
  private static boolean run(EchoApi.Request request, EchoApi.Peer peer) throws IOException {
    List<String> responses = new ArrayList<>();
    for (JsonNode call : Json.tree(request.body()).path("tool_calls")) {
      responses.add(response(call.at("/function/name").asText()));
    }
    return respondWith("{'tool_responses':[" + String.join(",", responses) + "]}")
        .answer(request, peer);
  }

  private static String response(String name) {
    return switch (name) {
      case "risky" ->
          """
          {'outcome':'confirmation_required','confirmation':{'confirmation_id':'c1','token':'t1',
          'server_id':'s','tool_name':'risky','risk_description':'It drops things.'}}""";
      case "broken" -> "{'outcome':'failed','output':{'error':'It is not there.'}}";
      case "long" -> text("123456789" + "0123456789".repeat(3) + "🎉tail");
      default -> text("the " + name);
    };
  }

  private static String text(String text) {
    return "{'outcome':'ok','content':[{'type':'text','text':'" + text + "'}]}";
  }

  private static EchoApi.Script respondWith(String json) {
    return EchoApi.respondWith(200, "application/json", json.replace('\'', '"'));
  }

  private Agent agent(Approver approver) {
    return new Agent(
        model,
        new BridgeTools(URI.create(bridge.url("")), null),
        approver,
        List.of(new Transcript(transcript::add)),
        LIMITS,
        Tracer.OFF);
  }

  private static String mark(ChatRequest chatRequest) {
    Matcher mark = Pattern.compile("<data (\\w+)>").matcher(chatRequest.instructions());
    assertTrue(mark.find(), chatRequest.instructions());
    return mark.group(1);
  }

  @Test
  void resultsAreSentInOrderWithinMarks() throws Exception {
    // Given
    model.then(calls("one", "broken"), calls("two"), says("All done."));

    // When
    Agent.Answer answer = agent(Approver.rejectAll()).ask("do");

    // Then
    String mark = mark(model.requests.get(0));
    assertEquals(
        List.of(
            "user: do",
            "assistant calls 2: ",
            "tool id_0: <data " + mark + ">\nthe one\n</data " + mark + ">",
            "tool id_1: It is not there.",
            "assistant calls 1: ",
            "tool id_0: <data " + mark + ">\nthe two\n</data " + mark + ">"),
        model.lastMessages());
    assertEquals(
        new Agent.Answer("All done.", Agent.Outcome.ANSWERED, 3, new ModelReply.Usage(30, 3)),
        answer);
    assertEquals(7, transcript.size(), transcript.toString());
  }

  @Test
  void longResultIsCutBetweenCharactersWithANote() throws Exception {
    model.then(calls("long"), says("Long."));

    agent(Approver.rejectAll()).ask("do");

    String result = model.lastMessages().get(2);
    assertTrue(
        result.contains("123456789\n[cut here: 39 of 45 characters are shown]\n</data "), result);
  }

  @Test
  void modelMustAnswerWithoutCallsAfterTheLastStep() throws Exception {
    // Given
    model.then(calls("one"), calls("one"), calls("one"), says("Half of it."));
    model.then(says("More."));
    Agent agent = agent(Approver.rejectAll());

    // When
    Agent.Answer answer = agent.ask("do");

    // Then
    assertEquals(Agent.Outcome.OUT_OF_STEPS, answer.outcome());
    assertEquals("Half of it.", answer.text());
    assertEquals(
        List.of(true, true, true, false),
        model.requests.stream().map(ChatRequest::mayCall).toList());
    assertEquals("More.", agent.ask("go on").text());
    assertEquals(3, bridge.requests("/toolcall").size());
  }

  @Test
  void callsAfterTheLastStepAreNeitherMadeNorKept() throws Exception {
    model.then(calls("one"), calls("one"), calls("one"), calls("one"), says("Yes."));
    Agent agent = agent(Approver.rejectAll());

    assertEquals("", agent.ask("do").text());
    agent.ask("well?");

    assertEquals(3, bridge.requests("/toolcall").size());
    assertEquals(3, model.lastMessages().stream().filter(line -> line.contains("calls")).count());
  }

  @Test
  void rejectedCallDoesNotRunAndTheModelIsInformed() throws Exception {
    model.then(calls("risky", "one"), says("Very well."));

    agent(call -> Approver.Decision.NO).ask("drop it");

    assertTrue(
        model.lastMessages().get(2).startsWith("tool id_0: The user has refused this call."));
    assertTrue(model.lastMessages().get(3).contains("the one"), model.lastMessages().toString());
    assertEquals(
        "{\"confirm\":false,\"token\":\"t1\"}", bridge.requests("/confirmations/c1").get(0).text());
  }

  @Test
  void permanentApprovalLastsUntilTheConversationIsCleared() throws Exception {
    // Given
    model.then(calls("risky"), calls("risky"), says("Done."), calls("risky"), says("Done."));
    List<String> approvals = new ArrayList<>();
    Agent agent =
        agent(
            call -> {
              approvals.add(call.server() + "/" + call.tool() + ": " + call.risk());
              return Approver.Decision.ALWAYS;
            });

    // When
    agent.ask("drop both");

    // Then
    assertEquals(List.of("s/risky: It drops things."), approvals);
    assertEquals(2, bridge.requests("/confirmations/c1").size());
    assertTrue(model.lastMessages().get(2).contains("dropped"), model.lastMessages().toString());
    agent.clear();
    agent.ask("again");
    assertEquals(2, approvals.size());
    assertEquals("user: again", model.lastMessages().get(0));
  }

  @Test
  void everyCallHasAResultAfterAnInterrupt() throws Exception {
    // Given
    model.then(calls("one", "risky", "two"), says("Where were we?"));
    Agent agent =
        agent(
            call -> {
              throw new InterruptedException();
            });

    // When
    assertThrows(InterruptedException.class, () -> agent.ask("do"));
    agent.ask("go on");

    // Then
    List<String> messages = model.lastMessages();
    assertEquals(6, messages.size(), messages.toString());
    assertTrue(messages.get(2).contains("the one"), messages.get(2));
    assertEquals("tool id_1: The user has stopped this. It has not run.", messages.get(3));
    assertTrue(messages.get(4).contains("the two"), "the known result is kept");
    assertEquals("user: go on", messages.get(5));
  }

  @Test
  void everyCallHasAResultAfterABridgeFailure() throws Exception {
    model.then(calls("one", "two"), says("Well."));
    bridge.on(
        "/toolcall", EchoApi.respondWith(503, "application/json", "{\"detail\":\"It ends.\"}"));
    Agent agent = agent(Approver.rejectAll());

    assertThrows(BridgeException.class, () -> agent.ask("do"));
    agent.ask("go on");

    List<String> messages = model.lastMessages();
    assertEquals(5, messages.size(), messages.toString());
    assertEquals(
        "tool id_0: The bridge refused: It ends. Whether it was executed is not known.",
        messages.get(2));
    assertEquals("user: go on", messages.get(4));
  }

  @Test
  void failedQuestionIsNotKept() throws Exception {
    model.then(
        (chatRequest, modelListener) -> {
          throw new BridgeException(ErrorCode.UPSTREAM_ERROR, "No.");
        },
        (chatRequest, modelListener) -> {
          throw new InterruptedException();
        },
        says("Hello."));
    Agent agent = agent(Approver.rejectAll());

    assertThrows(BridgeException.class, () -> agent.ask("one"));
    assertThrows(InterruptedException.class, () -> agent.ask("two"));
    agent.ask("three");

    assertEquals(List.of("user: three"), model.lastMessages());
  }

  @Test
  void outcomeOfAnAnswerIsReported() throws Exception {
    model.then(ends("It is a", ModelReply.End.CUT), ends("", ModelReply.End.REFUSED));
    Agent agent = agent(Approver.rejectAll());

    ModelReply.Usage usage = new ModelReply.Usage(10, 1);
    assertEquals(new Agent.Answer("It is a", Agent.Outcome.CUT, 1, usage), agent.ask("one"));
    assertEquals(new Agent.Answer("", Agent.Outcome.REFUSED, 1, usage), agent.ask("two"));
    assertFalse(transcript.isEmpty());
  }
}
