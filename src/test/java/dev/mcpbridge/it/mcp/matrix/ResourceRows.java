package dev.mcpbridge.it.mcp.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.NotificationStream;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.RawJson;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Resources, prompts and completion. */
public interface ResourceRows extends Rows {
  @ParameterizedTest
  @CsvSource({
    "resources/list,resources",
    "resources/templates/list,resourceTemplates",
    "prompts/list,prompts"
  })
  default void listsKeepTheirEntriesByteForByte(String method, String list) throws Exception {
    EraClient eraClient = fixture("{}");
    List<String> direct =
        RawJson.elements(world().direct().request(method, "").rawResult().get(list));

    List<String> listed = RawJson.elements(body(eraClient.request(method, "")).get(list));

    List<String> expected = direct;
    if (list.equals("prompts")) {
      expected = direct.stream().map(entry -> renamed(eraClient, entry)).toList();
    }
    assertFalse(expected.isEmpty());
    assertEquals(expected, listed.stream().filter(expected::contains).distinct().toList());
    if (!at().aggregated()) {
      assertTrue(listed.size() >= expected.size());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"test://static-text", "test://static-binary", "test://template/ü 1/data"})
  default void aResourceIsReadByteForByte(String uri) throws Exception {
    String members = "\"uri\":\"" + uri + "\"";
    Reply expected = world().direct().request("resources/read", encoded(members));

    Reply reply = fixture("{}").request("resources/read", encoded(members));

    assertEquals(Rows.withoutEraMembers(expected), body(reply));
    assertEquals(1, reply.result().path("contents").size());
  }

  /** Percent-encodes the non-ASCII URI. */
  private static String encoded(String members) {
    return members.replace("ü 1", "%C3%BC%201");
  }

  @Test
  default void anUnknownResourceIsAnInvalidParameter() throws Exception {
    String uri = "test://nonexistent";

    Reply reply = fixture("{}").request("resources/read", "\"uri\":\"" + uri + "\"");

    assertEquals(INVALID_PARAMS, reply.errorCode());
    assertEquals(uri, reply.last().at("/error/data/uri").asText(), reply.text());
  }

  @Test
  default void resourceUpdatesAreSentUntilTheClientUnsubscribes() throws Exception {
    EraClient eraClient = fixture("{}");
    String uri = "test://watched-resource";
    try (NotificationStream notificationStream = eraClient.listen(uri)) {

      String update =
          awaitFirst(
              notificationStream,
              "notifications/resources/updated",
              () -> eraClient.call("test_update_resource", "{}").firstText());

      String params = RawJson.members(update).get("params");
      assertEquals("\"" + uri + "\"", RawJson.members(params).get("uri"));
      if (!at().stateless()) {
        assertTrue(
            eraClient
                .request("resources/unsubscribe", "\"uri\":\"" + uri + "\"")
                .result()
                .isEmpty());
        String other = "\"uri\":\"test://static-text\"";
        assertTrue(eraClient.request("resources/subscribe", other).result().isEmpty());
        String next = "";
        while (!next.contains(other)) {
          next =
              awaitFirst(
                  notificationStream,
                  "notifications/resources/updated",
                  () -> eraClient.call("test_update_resource", "{" + other + "}"));
        }
        eraClient.call("test_update_resource", "{}");
        eraClient.call("test_update_resource", "{" + other + "}");
        assertTrue(notificationStream.awaitNext("notifications/").contains(other));
      }
    }
  }

  @Test
  default void theAggregatedEndpointRejectsUnknownSubscriptions() throws Exception {
    EraClient eraClient = fixture("{}");
    String uri = "nothing://at/all";

    if (at().stateless()) {
      try (NotificationStream notificationStream = eraClient.listen(uri)) {
        assertEquals(
            !at().aggregated(),
            notificationStream.acknowledgement().contains(uri),
            notificationStream.acknowledgement());
      }
    } else {
      Reply reply = eraClient.request("resources/subscribe", "\"uri\":\"" + uri + "\"");
      assertEquals(at().aggregated() ? INVALID_PARAMS : 0, code(reply), reply.text());
    }
  }

  private static int code(Reply reply) {
    return reply.last().has("error") ? reply.errorCode() : 0;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "test_simple_prompt|{}|This is a simple prompt for testing.",
        "test_prompt_with_arguments|{\"arg1\":\"grüße\",\"arg2\":\"\"}"
            + "|Prompt with arguments: arg1='grüße', arg2=''",
        "test_prompt_with_embedded_resource|{\"resourceUri\":\"test://x\"}|''",
        "test_prompt_with_image|{}|''"
      })
  default void aPromptIsPassedOnByteForByte(String prompt, String arguments, String text)
      throws Exception {
    EraClient eraClient = fixture("{}");
    EraClient direct = world().direct();
    Reply expected = direct.request("prompts/get", direct.callParams(prompt, arguments));

    Reply reply = eraClient.request("prompts/get", eraClient.callParams(prompt, arguments));

    assertEquals(Rows.withoutEraMembers(expected), body(reply));
    assertEquals(text, reply.at("/messages/0/content/text"));
  }

  @Test
  default void anUnknownPromptIsAnInvalidParameter() throws Exception {
    EraClient eraClient = fixture("{}");

    Reply reply = eraClient.request("prompts/get", eraClient.callParams("nothing", "{}"));

    assertEquals(INVALID_PARAMS, reply.errorCode());
  }

  @Test
  default void argumentsOfPromptsAndTemplatesAreCompleted() throws Exception {
    EraClient eraClient = fixture("{}");
    String argument = ",\"argument\":{\"name\":\"arg1\",\"value\":\"grü\"}";
    String prompt = eraClient.name("test_prompt_with_arguments");

    Reply ofPrompt =
        eraClient.request(
            "completion/complete",
            "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"" + prompt + "\"}" + argument);
    Reply ofTemplate =
        eraClient.request(
            "completion/complete",
            "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"test://template/{id}/data\"}" + argument);

    String expected = "{\"values\":[\"grü-completed\"],\"total\":1,\"hasMore\":false}";
    assertEquals(expected, body(ofPrompt).get("completion"));
    assertEquals(expected, body(ofTemplate).get("completion"));
  }
}
