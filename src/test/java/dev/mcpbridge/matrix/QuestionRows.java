package dev.mcpbridge.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What servers ask while a call runs. */
public interface QuestionRows extends Rows {
  String EVERYTHING = "{\"elicitation\":{},\"sampling\":{}}";
  int MISSING_CAPABILITY = -32021;

  @ParameterizedTest
  @ValueSource(strings = {"accept", "decline", "cancel"})
  default void aFormIsAnsweredByTheClientWhoseCallRuns(String action) throws Exception {
    List<JsonNode> questions = new ArrayList<>();
    String content = action.equals("accept") ? ",\"content\":{\"name\":\"Grüße\"}" : "";
    EraClient eraClient =
        fixture(EVERYTHING)
            .answering(
                question -> {
                  questions.add(question);
                  return "{\"action\":\"" + action + "\"" + content + "}";
                });

    Reply reply =
        at().upstream().modern()
            ? eraClient.call("test_input_required_result_elicitation", "{}")
            : eraClient.call("test_elicitation_sep1034_defaults", "{}");

    assertEquals(1, questions.size());
    assertEquals("elicitation/create", questions.get(0).path("method").asText());
    assertTrue(questions.get(0).at("/params/requestedSchema/properties").has("name"));
    String accepted = content.isEmpty() ? "{}" : "{\"name\":\"Grüße\"}";
    assertEquals(
        at().upstream().modern()
            ? "Hello, " + (content.isEmpty() ? "undefined" : "Grüße") + "!"
            : "Elicitation completed: action=" + action + ", content=" + accepted,
        reply.said());
  }

  @Test
  default void aCompletionIsMadeByTheClientWhoseCallRuns() throws Exception {
    List<JsonNode> questions = new ArrayList<>();
    EraClient eraClient =
        fixture(EVERYTHING)
            .answering(
                question -> {
                  questions.add(question);
                  return "{\"role\":\"assistant\",\"model\":\"m\","
                      + "\"content\":{\"type\":\"text\",\"text\":\"grüße\"}}";
                });

    Reply reply =
        at().upstream().modern()
            ? eraClient.call("test_input_required_result_sampling", "{}")
            : eraClient.call("test_sampling", "{\"prompt\":\"hi\"}");

    assertEquals(1, questions.size());
    assertEquals("sampling/createMessage", questions.get(0).path("method").asText());
    assertEquals("user", questions.get(0).at("/params/messages/0/role").asText());
    assertTrue(reply.said().contains("grüße"), reply.said());
  }

  @Test
  default void severalQuestionsAreAskedOneAfterTheOther() throws Exception {
    List<String> messages = new ArrayList<>();
    EraClient eraClient =
        fixture(EVERYTHING)
            .answering(
                question -> {
                  messages.add(question.at("/params/message").asText());
                  return "{\"action\":\"accept\",\"content\":{\"name\":\"a\",\"color\":\"b\"}}";
                });

    Reply reply = eraClient.call("test_input_required_result_multi_round", "{}");

    assertEquals("both rounds are over", reply.said());
    assertEquals(
        List.of("Step 1: What is your name?", "Step 2: What is your favorite color?"), messages);
  }

  @Test
  default void aPromptMayAskToo() throws Exception {
    EraClient eraClient =
        fixture(EVERYTHING)
            .answering(question -> "{\"action\":\"accept\",\"content\":{\"context\":\"testing\"}}");

    Reply reply =
        eraClient.ask("prompts/get", eraClient.called("test_input_required_result_prompt", "{}"));

    assertEquals(
        "In the context of testing", reply.result().at("/messages/0/content/text").asText());
  }

  @ParameterizedTest
  @CsvSource({
    "test_elicitation_sep1034_defaults,test_input_required_result_elicitation",
    "test_sampling,test_input_required_result_sampling"
  })
  default void aClientThatCanBeAskedNothingIsNotAsked(String ofLegacy, String ofModern)
      throws Exception {
    EraClient eraClient = fixture("{}");

    Reply reply =
        eraClient.call(at().upstream().modern() ? ofModern : ofLegacy, "{\"prompt\":\"\"}");

    assertEquals(1, reply.messages().size(), reply.text());
    assertFalse(reply.text().contains("input_required"), reply.text());
    assertTrue(
        reply.last().has("error") || reply.result().path("isError").asBoolean(), reply.text());
  }

  @Test
  default void aCapabilityThatIsMissingIsSaid() throws Exception {
    Reply reply = fixture("{}").call("test_missing_capability", "{}");

    assertEquals(MISSING_CAPABILITY, reply.errorCode(), reply.text());
    assertTrue(reply.last().at("/error/data/requiredCapabilities").has("sampling"), reply.text());
    assertEquals(at().stateless() ? 400 : 200, reply.status());
  }
}
