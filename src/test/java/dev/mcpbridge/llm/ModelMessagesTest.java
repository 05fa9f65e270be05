package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.fixture.EchoApi;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What differs between providers: the messages of follow-up requests, and their odd answers. */
@Timeout(60)
class ModelMessagesTest {
  private static final List<Recorded.Call> CALLS =
      List.of(
          new Recorded.Call("id_1", "one", "{ \"n\": 1.10, \"e\":1e2}"),
          new Recorded.Call("id_2", "two", ""));

  /** The messages of a second request, after a turn with calls. */
  private static JsonNode secondRequest(Recorded recorded, List<Recorded.Call> calls)
      throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider
          .then(recorded.answers.calls("I look.", calls))
          .then(recorded.answers.text(List.of("Done.")));
      ModelReply modelReply = provider.ask("do");
      provider.add(
          provider.model.resultMessages(
              IntStream.range(0, modelReply.calls().size())
                  .mapToObj(
                      i -> FunctionResult.of(modelReply.calls().get(i), i == 1, "result " + i))
                  .toList()));
      provider.reply(ScriptedProvider.NO_TOOLS, true);
      JsonNode body = provider.body(1);
      return body.path(recorded == Recorded.GEMINI ? "contents" : "messages");
    }
  }

  private static void assertMessages(String expected, JsonNode sent) {
    String lines = expected.strip().replaceAll("\\n *", "");
    assertEquals("[" + lines + "]", sent.toString());
  }

  @Test
  void chatCompletionsGetUnchangedArgumentsAndOneMessagePerResult() throws Exception {
    assertMessages(
        """
        {"role":"system","content":"Be brief."},{"role":"user","content":"do"},
        {"role":"assistant","content":"I look.","tool_calls":[
        {"id":"id_1","type":"function",
        "function":{"name":"one","arguments":"{ \\"n\\": 1.10, \\"e\\":1e2}"}},
        {"id":"id_2","type":"function","function":{"name":"two","arguments":""}}]},
        {"role":"tool","tool_call_id":"id_1","content":"result 0"},
        {"role":"tool","tool_call_id":"id_2","content":"result 1"}
        """,
        secondRequest(Recorded.OPENAI, CALLS));
  }

  @Test
  void messagesGetSignedThinkingAndAllResultsInOneMessage() throws Exception {
    assertMessages(
        """
        {"role":"user","content":"do"},
        {"role":"assistant","content":[
        {"type":"thinking","thinking":"Let me see.","signature":"%s"},
        {"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix"},
        {"type":"text","text":"I look."},
        {"type":"tool_use","id":"id_1","name":"one","input":{"n":1.10,"e":1E+2},
        "caller":{"type":"direct"}},
        {"type":"tool_use","id":"id_2","name":"two","input":{},"caller":{"type":"direct"}}]},
        {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"id_1","content":[{"type":"text","text":"result 0"}]},
        {"type":"tool_result","tool_use_id":"id_2","content":[{"type":"text","text":"result 1"}],
        "is_error":true}]}
        """
            .formatted(RecordedAnthropic.SIGNATURE),
        secondRequest(Recorded.ANTHROPIC, CALLS));
  }

  @ParameterizedTest
  @CsvSource(
      value = {"id_1;'{\"id\":\"id_1\",';',\"id\":\"id_1\"'", ";'{';''"},
      delimiter = ';')
  void generateContentGetsSignedPartsAndIdsIfPresent(
      String id, String responseStart, String callEnd) throws Exception {
    assertMessages(
        """
        {"role":"user","parts":[{"text":"do"}]},
        {"role":"model","parts":[
        {"text":"**Looking**\\n\\nI see.\\n","thought":true},{"text":"I look."},
        {"functionCall":{"name":"one","args":{"n":1.10}%s},"thoughtSignature":"%s"}]},
        {"role":"user","parts":[
        {"functionResponse":%s"name":"one","response":{"output":"result 0"}}}]}
        """
            .formatted(callEnd == null ? "" : callEnd, RecordedGemini.SIGNATURE, responseStart),
        secondRequest(Recorded.GEMINI, List.of(new Recorded.Call(id, "one", "{\"n\":1.10}"))));
  }

  @Test
  void modelWithoutToolCallsGetsResultsAsUserMessages() throws Exception {
    JsonNode sent = secondRequest(Recorded.STRUCTURED, List.of(CALLS.get(1)));

    assertEquals(4, sent.size());
    assertEquals(
        "{\"callTool\":{\"name\":\"two\",\"arguments\":\"\"},\"toUser\":null}",
        sent.at("/2/content").asText());
    assertEquals("user", sent.at("/3/role").asText());
    assertEquals("Result of two:\nresult 0", sent.at("/3/content").asText());
  }

  /** Some servers with OpenAI's API give all calls of a message the same index. */
  @ParameterizedTest
  @CsvSource({"0", "none"})
  void callsWithTheSameIndexAreDistinguishedById(String index) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(Recorded.OPENAI)) {
      // Given
      String delta =
          Recorded.json(
              "{'tool_calls':[{%s'id':'%%s','type':'function','function':{'name':'%%s','arguments':'{\\'a\\':1}'}}]}",
              index.equals("0") ? "\"index\":0," : "");
      provider.then(
          List.of(
              RecordedOpenAi.delta(delta.formatted("call_a", "one"), null),
              RecordedOpenAi.delta(delta.formatted("call_b", "two"), "tool_calls"),
              "data: [DONE]\n\n"));

      // When
      ModelReply modelReply = provider.ask("do");

      // Then
      assertEquals(
          List.of("call_a one {\"a\":1}", "call_b two {\"a\":1}"),
          modelReply.calls().stream()
              .map(call -> call.id() + " " + call.name() + " " + call.arguments().text())
              .toList());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Recorded.class,
      names = {"OPENAI", "STRUCTURED"})
  void noAuthorizationIsSentWithoutAKey(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      provider.then(recorded.answers.text(List.of("Hello.")));
      provider.model = provider.model("", null, Duration.ofSeconds(10), 0);

      provider.ask("hello");

      assertEquals(List.of(), provider.requests().get(0).headers("authorization"));
    }
  }

  @Test
  void completeResponseOfANonStreamingServerIsRead() throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(Recorded.OPENAI)) {
      provider.then(
          EchoApi.respondWith(
              200, "application/json", RecordedStructured.whole("Hello.", null, "stop")));

      assertEquals("Hello.", provider.ask("hello").text());
      assertEquals(List.of("Hello."), provider.receivedText);
    }
  }

  @Test
  void questionBlockedByGeminiIsReported() throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(Recorded.GEMINI)) {
      provider.then(
          List.of(
              Recorded.json(
                  """
                  data: {'promptFeedback': {'blockReason': 'PROHIBITED_CONTENT'},\
                  'usageMetadata': {'promptTokenCount': 7,'totalTokenCount': 7},\
                  'modelVersion': 'gemini-2.5-flash'}\r\n\r\n""")));

      BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("bad"));

      assertTrue(failure.getMessage().endsWith("PROHIBITED_CONTENT"), failure.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({"MALFORMED_FUNCTION_CALL,", "OTHER,", "MAX_TOKENS,CUT"})
  void geminiReplyWithoutPartsIsCutOrAnError(String finish, ModelReply.End end) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(Recorded.GEMINI)) {
      provider.then(
          List.of(
              Recorded.json(
                  "data: {'candidates': [{'content': {},'finishReason': '%s','index': 0}]}\r\n\r\n",
                  finish)));

      if (end != null) {
        assertEquals(end, provider.ask("do").end());
      } else {
        BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("do"));
        assertTrue(failure.getMessage().endsWith(": " + finish), failure.getMessage());
      }
    }
  }
}
