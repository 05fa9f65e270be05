package dev.mcpbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.llm.ReplayModel;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.trace.Tracer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelTurnTest {
  private static final JsonNode TOOLS = JsonNodeFactory.instance.arrayNode();

  private static ModelTurn turn(String json) throws Exception {
    return ModelTurn.read(Json.exactTree(json.replace('\'', '"')));
  }

  private static ModelTurn.Reply run(ModelTurn turn, ChatModel model) throws Exception {
    return turn.run(model, TOOLS, text -> {}, Tracer.OFF, Envelope.NONE);
  }

  /** The request of the next turn of a client. */
  private static ModelTurn next(List<JsonNode> messages, ModelTurn.Reply last, String more)
      throws Exception {
    ObjectNode body = (ObjectNode) Json.exactTree(more.replace('\'', '"'));
    body.put("conversation", last.conversation()).putArray("messages").addAll(messages);
    return ModelTurn.read(body);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {}                                        | Either 'question' or 'results' is required
          {'question':' '}                          | 'question' must be a text
          {'question':7}                            | 'question' must be a text
          {'question':'x','messages':{}}            | 'messages' must be a list
          {'question':'x','messages':[{},7]}        | 'messages[1]' must be an object
          {'results':[]}                            | Either 'question' or 'results' is required
          {'results':['x']}                         | 'results[0]' must be an object
          {'question':'x','conversation':'no'}      | 'conversation' must be the one of an earlier reply
          {'question':'x','may_call':1}             | 'may_call' must be true or false
          {'question':'x','model':'other'}          | Unknown member 'model'
          """)
  void invalidRequestIsRefusedWithTheMemberThatIsWrong(String body, String message) {
    BridgeException refused =
        assertThrows(BridgeException.class, () -> turn(body.replace("''", "'")));

    assertEquals(ErrorCode.INVALID_ARGUMENTS, refused.code());
    assertEquals(message, refused.getMessage());
  }

  @Test
  void clientContinuesAConversationWithWhatItHasReceived() throws Exception {
    ScriptedModel model =
        new ScriptedModel()
            .then(ScriptedModel.calls("a", "b"), ScriptedModel.says("Both are done."));
    List<JsonNode> messages = new ArrayList<>();

    ModelTurn.Reply first = run(turn("{'question':'Do both.'}"), model);
    messages.addAll(first.messages());
    String results =
        "{'results':[{'tool_call_id':'id_0','name':'a','outcome':'completed','output':{'result':'A'}},"
            + "{'tool_call_id':'id_1','name':'b','outcome':'failed','output':{'error':'B'}}]}";
    ModelTurn.Reply second = run(next(messages, first, results), model);

    assertEquals(2, first.modelReply().calls().size());
    assertEquals("Both are done.", second.modelReply().text());
    List<JsonNode> sent = model.requests.get(1).messages();
    assertEquals(
        List.of("user", "assistant", "tool", "tool"),
        sent.stream().map(message -> message.path("role").asText()).toList());
    String mark = first.conversation();
    assertEquals(
        "<data " + mark + ">\nA\n</data " + mark + ">", sent.get(2).path("content").asText());
    assertEquals("id_1", sent.get(3).path("tool_call_id").asText());
    assertTrue(model.requests.get(1).instructions().contains("<data " + mark + ">"));
    assertEquals(3, second.messages().size(), "the two results and the reply");
  }

  @Test
  void eachConversationHasItsOwnMark() throws Exception {
    assertNotEquals(
        turn("{'question':'x'}").conversation(), turn("{'question':'x'}").conversation());
  }

  @Test
  void resultsForOtherCallsAreRefused() throws Exception {
    ScriptedModel model = new ScriptedModel().then(ScriptedModel.calls("a", "b"));
    ModelTurn.Reply first = run(turn("{'question':'Do both.'}"), model);

    ModelTurn second =
        next(first.messages(), first, "{'results':[{'outcome':'completed','output':{}}]}");

    BridgeException refused = assertThrows(BridgeException.class, () -> run(second, model));
    assertEquals("The last message has 2 calls, but there are 1 results", refused.getMessage());
  }

  @Test
  void modelIsToldThatACallNeedsAConsentAndWhere() throws Exception {
    ScriptedModel model =
        new ScriptedModel().then(ScriptedModel.calls("a"), ScriptedModel.says("Please connect."));
    ModelTurn.Reply first = run(turn("{'question':'Do it.'}"), model);
    String results =
        "{'results':[{'outcome':'failed','output':{'error':'Connect at https://b/connect/1'},"
            + "'server_id':'s','problem':{'code':'consent_required',"
            + "'connect_url':'https://b/connect/1'}}]}";

    run(next(first.messages(), first, results), model);

    assertEquals(
        "Connect at https://b/connect/1",
        model.requests.get(1).messages().get(2).path("content").asText());
  }

  @Test
  void lastTurnHasNoCalls() throws Exception {
    ScriptedModel model = new ScriptedModel().then(ScriptedModel.calls("a"));

    ModelTurn.Reply last = run(turn("{'question':'x','may_call':false}"), model);

    assertFalse(model.requests.get(0).mayCall());
    assertEquals(List.of(), last.modelReply().calls());
    assertEquals(2, last.messages().size(), "the question and that no call can be made");
  }

  @Test
  void recordedConversationIsReplayedByAnyModelOfItsKind() throws Exception {
    List<String> recording =
        List.of(
            "{\"user\":\"q\"}",
            "{\"model\":{\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
                + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}",
            "{\"model\":{\"content\":\"It is {{c/x}}.\"}}");
    List<JsonNode> messages = new ArrayList<>();

    ModelTurn.Reply first = run(turn("{'question':'q'}"), new ReplayModel(recording));
    messages.addAll(first.messages());
    ModelTurn second =
        next(
            messages,
            first,
            "{'results':[{'outcome':'completed','output':{'result':'{\\'x\\':7}'}}]}"
                .replace("\\'", "\\\""));
    ModelReply reply = run(second, new ReplayModel(recording)).modelReply();

    assertEquals("It is 7.", reply.text());
  }
}
