package dev.mcpbridge.it.mcp.matrix;

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

/** Requests of servers to the client during a call. */
public interface QuestionRows extends Rows {
  String ALL_CAPABILITIES = "{\"elicitation\":{},\"sampling\":{}}";
  int MISSING_CAPABILITY = -32021;

  @ParameterizedTest
  @ValueSource(strings = {"accept", "decline", "cancel"})
  default void anElicitationIsAnsweredByTheCallingClient(String action) throws Exception {
    List<JsonNode> requests = new ArrayList<>();
    String content = action.equals("accept") ? ",\"content\":{\"name\":\"Grüße\"}" : "";
    EraClient eraClient =
        fixture(ALL_CAPABILITIES)
            .withRequestHandler(
                request -> {
                  requests.add(request);
                  return "{\"action\":\"" + action + "\"" + content + "}";
                });

    Reply reply =
        at().upstream().modern()
            ? eraClient.call("test_input_required_result_elicitation", "{}")
            : eraClient.call("test_elicitation_sep1034_defaults", "{}");

    assertEquals(1, requests.size());
    assertEquals("elicitation/create", requests.get(0).path("method").asText());
    assertTrue(requests.get(0).at("/params/requestedSchema/properties").has("name"));
    String accepted = content.isEmpty() ? "{}" : "{\"name\":\"Grüße\"}";
    assertEquals(
        at().upstream().modern()
            ? "Hello, " + (content.isEmpty() ? "undefined" : "Grüße") + "!"
            : "Elicitation completed: action=" + action + ", content=" + accepted,
        reply.firstText());
  }

  @Test
  default void aSamplingRequestIsAnsweredByTheCallingClient() throws Exception {
    List<JsonNode> requests = new ArrayList<>();
    EraClient eraClient =
        fixture(ALL_CAPABILITIES)
            .withRequestHandler(
                request -> {
                  requests.add(request);
                  return "{\"role\":\"assistant\",\"model\":\"m\","
                      + "\"content\":{\"type\":\"text\",\"text\":\"grüße\"}}";
                });

    Reply reply =
        at().upstream().modern()
            ? eraClient.call("test_input_required_result_sampling", "{}")
            : eraClient.call("test_sampling", "{\"prompt\":\"hi\"}");

    assertEquals(1, requests.size());
    assertEquals("sampling/createMessage", requests.get(0).path("method").asText());
    assertEquals("user", requests.get(0).at("/params/messages/0/role").asText());
    assertTrue(reply.firstText().contains("grüße"), reply.firstText());
  }

  @Test
  default void severalElicitationsAreSentInOrder() throws Exception {
    List<String> messages = new ArrayList<>();
    EraClient eraClient =
        fixture(ALL_CAPABILITIES)
            .withRequestHandler(
                request -> {
                  messages.add(request.at("/params/message").asText());
                  return "{\"action\":\"accept\",\"content\":{\"name\":\"a\",\"color\":\"b\"}}";
                });

    Reply reply = eraClient.call("test_input_required_result_multi_round", "{}");

    assertEquals("both rounds are over", reply.firstText());
    assertEquals(
        List.of("Step 1: What is your name?", "Step 2: What is your favorite color?"), messages);
  }

  @Test
  default void aPromptMayElicitInput() throws Exception {
    EraClient eraClient =
        fixture(ALL_CAPABILITIES)
            .withRequestHandler(
                request -> "{\"action\":\"accept\",\"content\":{\"context\":\"testing\"}}");

    Reply reply =
        eraClient.request(
            "prompts/get", eraClient.callParams("test_input_required_result_prompt", "{}"));

    assertEquals("In the context of testing", reply.at("/messages/0/content/text"));
  }

  @ParameterizedTest
  @CsvSource({
    "test_elicitation_sep1034_defaults,test_input_required_result_elicitation",
    "test_sampling,test_input_required_result_sampling"
  })
  default void aClientWithoutCapabilitiesReceivesNoRequests(String legacyTool, String modernTool)
      throws Exception {
    EraClient eraClient = fixture("{}");

    Reply reply =
        eraClient.call(at().upstream().modern() ? modernTool : legacyTool, "{\"prompt\":\"\"}");

    assertEquals(1, reply.messages().size(), reply.text());
    assertFalse(reply.text().contains("input_required"), reply.text());
    assertTrue(
        reply.last().has("error") || reply.result().path("isError").asBoolean(), reply.text());
  }

  @Test
  default void aMissingCapabilityIsReported() throws Exception {
    Reply reply = fixture("{}").call("test_missing_capability", "{}");

    assertEquals(MISSING_CAPABILITY, reply.errorCode(), reply.text());
    assertTrue(reply.last().at("/error/data/requiredCapabilities").has("sampling"), reply.text());
    assertEquals(at().stateless() ? 400 : 200, reply.status());
  }
}
