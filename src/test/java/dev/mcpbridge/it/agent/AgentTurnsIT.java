package dev.mcpbridge.it.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.SpanReceiver.Received;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client with nothing but HTTP converses with the model of the operator. */
class AgentTurnsIT {
  private static final String ALICE = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String READER = ApiKeys.generate();
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PROVIDER_KEY = "sk-of-the-operator";
  private static final String TOOLS =
      "[{\"name\":\"greet\",\"description\":\"Greets.\",\"inputSchema\":{\"type\":\"object\"}},"
          + "{\"name\":\"erase\",\"inputSchema\":{\"type\":\"object\"}}]";

  @TempDir Path folder;
  @AutoClose private final ScriptedModel model = ScriptedModel.start();
  @AutoClose private TestBridge bridge;

  @BeforeEach
  void open() throws Exception {
    open(TOOLS, "'roles':['chatters'],'turns':2");
  }

  private void open(String tools, String agent) throws Exception {
    open(tools, agent, "");
  }

  private void open(String tools, String agent, String settings) throws Exception {
    if (bridge != null) {
      bridge.close();
    }
    String keys =
        TestBridge.auth(
            TestBridge.key("alice", ALICE, "'read','call'", "'chatters'"),
            TestBridge.key("bob", BOB, "'read','call'"),
            TestBridge.key("reader", READER, "'read'", "'chatters'"));
    String risk = "'risk':{'tools':{'erase':2}}";
    bridge =
        TestBridge.of(
            "{%s%s,'agent':{'provider':'openai','baseUrl':'%s','key':'%s','model':'scripted',%s},'profiles':{'p':{'servers':{'t':{'tools':['greet'],'overrides':{'greet':{'name':'hello'}}}}}},'mcpServers':{'t':%s}}"
                .formatted(
                    settings,
                    keys,
                    model.base(),
                    PROVIDER_KEY,
                    agent,
                    CatalogueServer.entry(folder.resolve("tools.json"), tools, risk)));
    bridge.until(() -> bridge.get("/servers/t", "x-api-key", ALICE).at("/state").equals("ready"));
  }

  private Answer turn(String body, String... headers) throws Exception {
    String[] all = new String[headers.length + 2];
    System.arraycopy(headers, 0, all, 2, headers.length);
    all[0] = "x-api-key";
    all[1] = ALICE;
    return bridge.post("/agent/turns", body, all);
  }

  private static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  @Test
  void conversationWithACallIsHeldOverHttp() throws Exception {
    model.thenCalls("t__greet", "{\"name\":\"Zoë\",\"n\":9007199254740993}").thenText("Done.");

    JsonNode first = turn("{\"question\":\"Greet Zoë.\"}").body();
    ObjectNode calls = object();
    calls.set("tool_calls", first.path("calls"));
    Answer made =
        bridge.post(first.path("calls_to").asText(), calls.toString(), "x-api-key", ALICE);
    ObjectNode next = object().put("conversation", first.path("conversation").asText());
    next.set("messages", first.path("messages"));
    next.set("results", made.body().path("tool_responses"));
    JsonNode second = turn(next.toString()).body();

    assertEquals("Done.", second.path("text").asText());
    assertEquals(0, second.path("calls").size());
    assertEquals("done", second.path("end").asText());
    assertTrue(model.toolResults().get(0).contains("9007199254740993"), model.toolResults().get(0));
    assertEquals(
        "[\"t__erase\",\"t__greet\"]",
        model
            .lastRequestBody()
            .path("tools")
            .valueStream()
            .map(tool -> tool.at("/function/name").toString())
            .sorted()
            .collect(Collectors.joining(",", "[", "]")));
    assertEquals("Bearer " + PROVIDER_KEY, model.seen().get(0).header("authorization"));
  }

  /** The client sends the context of its conversation with each request. */
  @Test
  void turnsAndTheirCallsAreInTheTraceOfTheClient() throws Exception {
    try (SpanReceiver collector = new SpanReceiver()) {
      // Given
      open(TOOLS, "'turns':2", collector.everything() + ",");
      String[] context = {
        "x-api-key", ALICE, "traceparent", "00-" + TRACE + "-b7ad6b7169203331-01"
      };
      model.thenCalls("t__greet", "{}");

      // When
      JsonNode reply = bridge.post("/agent/turns", "{\"question\":\"x\"}", context).body();
      ObjectNode calls = object();
      calls.set("tool_calls", reply.path("calls"));
      bridge.post(reply.path("calls_to").asText(), calls.toString(), context);

      // Then
      Received chat = collector.await(bridge, span -> span.name().equals("chat scripted"));
      Received call = collector.await(bridge, span -> span.name().equals("tools/call greet"));
      Received turn = collector.await(bridge, span -> span.id().equals(chat.parent()));
      Received door = collector.await(bridge, span -> span.id().equals(call.parent()));
      assertEquals("POST /agent/turns", turn.name());
      assertEquals("POST /toolcall", door.name());
      for (Received span : List.of(chat, call, turn, door)) {
        assertEquals(TRACE, span.trace(), span.toString());
      }
      assertEquals("scripted", chat.get("gen_ai.request.model"));
    }
  }

  @Test
  void aModelGetsTheToolsOfAProfileAndItsCallsLeadThere() throws Exception {
    model.thenCalls("hello", "{\"n\":1}");

    JsonNode reply =
        bridge.post("/profiles/p/agent/turns", "{\"question\":\"x\"}", "x-api-key", ALICE).body();
    ObjectNode calls = object();
    calls.set("tool_calls", reply.path("calls"));
    Answer made =
        bridge.post(reply.path("calls_to").asText(), calls.toString(), "x-api-key", ALICE);

    assertTrue(
        reply.path("calls_to").asText().startsWith("/profiles/p/toolcall"), reply.toString());
    assertEquals(1, model.lastRequestBody().path("tools").size());
    assertTrue(made.text().contains("greet"), made.text());
  }

  @Test
  void textIsStreamedAndTheReplyFollows() throws Exception {
    model.thenText("Hi ✓");

    Answer stream = turn("{\"question\":\"Hello?\"}", "accept", "text/event-stream");

    String events = String.join(" ", stream.events());
    assertTrue(events.matches("(text )+turn"), events);
    assertTrue(stream.text().contains("{\"text\":\"✓\"}"), stream.text());
  }

  @Test
  void failureOfTheProviderIsReportedWithoutTheKey() throws Exception {
    model.thenError(400, "bad key " + PROVIDER_KEY).thenError(400, "again " + PROVIDER_KEY);

    Answer whole = turn("{\"question\":\"x\"}");
    Answer stream = turn("{\"question\":\"x\"}", "accept", "text/event-stream");

    assertEquals(502, whole.status());
    assertEquals("upstream_error", whole.code());
    assertTrue(whole.at("/detail").contains("bad key (the key)"), whole.text());
    assertTrue(stream.text().contains("event: error\ndata: {"), stream.text());
    assertTrue(stream.text().contains("upstream_error"), stream.text());
    assertFalse((whole.text() + stream.text()).contains(PROVIDER_KEY));
  }

  @Test
  void callerThatLeavesEndsItsRequestToTheModel() throws Exception {
    model.thenNoResponse();
    CompletableFuture<HttpResponse<String>> left =
        bridge
            .client()
            .sendAsync(
                bridge.posting("/agent/turns", "{\"question\":\"x\"}", "x-api-key", ALICE).build(),
                HttpResponse.BodyHandlers.ofString());
    bridge.until(() -> model.requestBodies().size() == 1);

    left.cancel(true);

    bridge.until(() -> model.disconnects() == 1);
    model.thenText("Still here.");
    assertEquals("Still here.", turn("{\"question\":\"and now?\"}").at("/text"));
  }

  @Test
  void callerHasAShareOfTheTurns() throws Exception {
    model.thenNoResponse();
    CompletableFuture<Answer> busy =
        bridge.postLater("/agent/turns", "{\"question\":\"x\"}", "x-api-key", ALICE);
    bridge.until(() -> model.requestBodies().size() == 1);

    Answer second = turn("{\"question\":\"y\"}");

    assertEquals(429, second.status());
    assertTrue(second.at("/detail").contains("turns of the model"), second.text());
    busy.cancel(true);
  }

  @Test
  void modelIsForItsRolesAndTheScopeOnly() throws Exception {
    Answer role = bridge.post("/agent/turns", "{\"question\":\"x\"}", "x-api-key", BOB);
    Answer scope = bridge.post("/agent/turns", "{\"question\":\"x\"}", "x-api-key", READER);

    assertEquals("403 forbidden", role.status() + " " + role.code());
    assertEquals("403 forbidden", scope.status() + " " + scope.code());
    assertEquals("scripted", bridge.get("/whoami", "x-api-key", ALICE).at("/agent/model"));
    assertTrue(bridge.get("/whoami", "x-api-key", BOB).body().path("agent").isMissingNode());
    assertEquals(0, model.requestBodies().size());
  }

  @Test
  void garbageIsRefusedBeforeTheModelIsAsked() throws Exception {
    for (String body : new String[] {"", "[", "[]", "7", "{\"question\":\"x\"", "null"}) {
      assertEquals(400, turn(body).status(), body);
    }
    assertEquals(422, turn("{\"question\":7}").status());
    assertEquals(400, turn("{\"question\":\"x\",\"messages\":[" + "[".repeat(5000)).status());
    assertEquals(0, model.requestBodies().size());
  }

  @Test
  void resultsMayHaveWhatServersWriteAndRequestsMayNot() throws Exception {
    model.thenCalls("t__greet", "{}").thenText("Fine.");
    JsonNode first = turn("{\"question\":\"x\"}").body();
    String result =
        "{\"outcome\":\"completed\",\"content\":[{\"type\":\"text\",\"text\":\"half \\ud83d\"}]}";

    Answer second =
        turn(
            "{\"conversation\":\"%s\",\"messages\":%s,\"results\":[%s]}"
                .formatted(first.path("conversation").asText(), first.path("messages"), result));

    assertEquals("Fine.", second.at("/text"), second.toString());
  }

  @Test
  void repeatedMemberIsAMistakeOfTheClient() throws Exception {
    Answer answer = turn("{\"question\":\"x\",\"question\":\"y\"}");

    assertEquals("400 malformed_request", answer.status() + " " + answer.code());
  }

  @Test
  void clientThatLeavesItsCallsLeavesNothingToApprove() throws Exception {
    bridge.close();
    bridge = TestBridge.scripted("'risk':{'tools':{'remember':2}}");
    bridge.awaitReady("s");
    String calls = "{\"tool_calls\":[%s,%s]}".formatted(call("remember"), call("never"));
    CompletableFuture<HttpResponse<String>> left =
        bridge
            .client()
            .sendAsync(
                bridge.posting("/toolcall", calls).build(), HttpResponse.BodyHandlers.ofString());
    bridge.until(() -> pending() == 1);

    left.cancel(true);

    bridge.until(() -> pending() == 0);
  }

  private static String call(String tool) {
    return "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":\"s__%s\",\"arguments\":\"{}\"}}"
        .formatted(tool, tool);
  }

  private int pending() throws Exception {
    return bridge.get("/confirmations").body().path("confirmations").size();
  }

  @Test
  void modelGetsThreeToolsToFindManyOthers() throws Exception {
    String many =
        IntStream.range(0, 150)
            .mapToObj(i -> "{\"name\":\"tool" + i + "\",\"inputSchema\":{\"type\":\"object\"}}")
            .collect(Collectors.joining(",", "[", "]"));
    open(many, "'turns':1");
    model.thenCalls("call_tool", "{\"name\":\"t__tool7\",\"arguments\":{\"x\":1}}");

    JsonNode reply = turn("{\"question\":\"Use one.\"}").body();
    ObjectNode calls = object();
    calls.set("tool_calls", reply.path("calls"));
    Answer made =
        bridge.post(reply.path("calls_to").asText(), calls.toString(), "x-api-key", ALICE);

    ArrayNode offered = (ArrayNode) model.lastRequestBody().path("tools");
    assertEquals(3, offered.size());
    assertEquals("completed", made.at("/tool_responses/0/outcome"), made.text());
  }

  @Test
  void bridgeWithoutAModelSaysSo() throws Exception {
    bridge.close();
    bridge = TestBridge.of("{'mcpServers':{}}");

    Answer answer = bridge.post("/agent/turns", "{\"question\":\"x\"}");

    assertEquals(404, answer.status());
    assertTrue(answer.at("/detail").contains("agent"), answer.text());
    assertTrue(bridge.get("/whoami").body().path("agent").isMissingNode());
  }
}
