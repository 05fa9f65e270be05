package dev.mcpbridge.it.mcp.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.NotificationStream;
import dev.mcpbridge.fixture.McpClient.Cancellation;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.RawJson;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tools, and notifications and cancellation during calls. */
public interface ToolRows extends Rows {

  @Test
  default void toolsAreListedByteForByte() throws Exception {
    EraClient eraClient = fixture("{}");
    List<String> direct =
        RawJson.elements(world().direct().request("tools/list", "").rawResult().get("tools"));

    List<String> listed = RawJson.elements(body(eraClient.request("tools/list", "")).get("tools"));

    List<String> expected = direct.stream().map(tool -> renamed(eraClient, tool)).toList();
    assertEquals(expected, listed.stream().filter(expected::contains).toList());
    assertTrue(expected.stream().anyMatch(tool -> tool.contains("\"$anchor\":\"addressDef\"")));
    assertEquals(
        at().aggregated() ? 2 : 1,
        listed.stream().filter(tool -> tool.contains("test_simple_text\"")).count());
  }

  @ParameterizedTest
  @CsvSource({
    "test_simple_text,/content/0/type,text",
    "test_image_content,/content/0/type,image",
    "test_audio_content,/content/0/type,audio",
    "test_embedded_resource,/content/0/resource/uri,test://embedded-resource",
    "test_multiple_content_types,/content/2/type,resource",
    "test_error_handling,/isError,true",
    "test_unchanged,/structuredContent/ключ/2,''",
  })
  default void aResultIsPassedOnByteForByte(String tool, String pointer, String expected)
      throws Exception {
    Reply direct = world().direct().call(tool, "{}");

    Reply reply = fixture("{}").call(tool, "{}");

    assertEquals(expected, reply.result().at(pointer).asText());
    assertEquals(Rows.withoutEraMembers(direct).keySet(), Rows.withoutEraMembers(reply).keySet());
    Rows.withoutEraMembers(direct)
        .forEach((name, value) -> assertSame(name, value, body(reply).get(name)));
  }

  private static void assertSame(String name, String expected, String actual) {
    if (!name.equals("_meta")) {
      assertEquals(expected, actual);
      return;
    }
    var expectedMeta = RawJson.members(expected);
    var actualMeta = RawJson.members(actual);
    expectedMeta.remove(SERVER_INFO);
    actualMeta.remove(SERVER_INFO);
    assertEquals(expectedMeta, actualMeta);
  }

  @Test
  default void anUnknownToolIsAnInvalidParameter() throws Exception {
    assertEquals(INVALID_PARAMS, fixture("{}").call("nothing", "{}").errorCode());
  }

  @Test
  default void argumentsAreValidatedAgainstTheWholeSchema() throws Exception {
    EraClient eraClient = fixture("{}");
    String good = "{\"name\":\"grüße 🎉\",\"contactMethod\":\"email\",\"email\":\"a@b\"}";
    String bad = "{\"contactMethod\":\"phone\",\"email\":\"a@b\"}";

    assertEquals(
        "called with " + good, eraClient.call("json_schema_2020_12_tool", good).firstText());
    Reply refused = eraClient.call("json_schema_2020_12_tool", bad);

    assertTrue(refused.result().path("isError").asBoolean());
    assertTrue(refused.firstText().contains("phone"), refused.firstText());
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"mine/ü\"", "7", "\"7\"", "9007199254740993"})
  default void progressHasTheTokenOfTheClient(String token) throws Exception {
    Reply reply = fixture("{}").call("test_tool_with_progress", "{}", "\"progressToken\":" + token);

    List<JsonNode> progress = reply.notifications("notifications/progress");
    assertEquals(
        List.of("0", "50", "100"),
        progress.stream().map(n -> n.at("/params/progress").asText()).toList());
    progress.forEach(n -> assertEquals(token, n.at("/params/progressToken").toString()));
    assertEquals("Completed step 50 of 100", progress.get(1).at("/params/message").asText());
    assertEquals(4, reply.messages().size());
  }

  @Test
  default void noProgressIsSentWithoutAToken() throws Exception {
    Reply reply = fixture("{}").call("test_tool_with_progress", "{}");

    assertEquals(1, reply.messages().size());
    assertFalse(reply.result().path("isError").asBoolean());
  }

  @Test
  default void logMessagesAreSentFromTheRequestedLevel() throws Exception {
    EraClient eraClient = fixture("{}");
    String tool = "test_tool_with_logging";
    List<String> expected =
        List.of("Tool execution started", "Tool processing data", "Tool execution completed");
    Reply withInfo;
    Reply withError;

    if (at().stateless()) {
      withInfo = eraClient.call(tool, "{}", EraClient.logLevel("info"));
      withError = eraClient.call(tool, "{}", EraClient.logLevel("error"));
    } else {
      assertTrue(eraClient.request("logging/setLevel", "\"level\":\"info\"").result().isEmpty());
      withInfo = eraClient.call(tool, "{}");
      eraClient.request("logging/setLevel", "\"level\":\"error\"");
      withError = eraClient.call(tool, "{}");
    }

    List<JsonNode> messages = withInfo.notifications("notifications/message");
    assertEquals(expected, messages.stream().map(n -> n.at("/params/data").asText()).toList());
    assertEquals("info", messages.get(0).at("/params/level").asText());
    assertEquals(1, withError.messages().size());
  }

  @Test
  default void onlyASessionReceivesLogMessagesByDefault() throws Exception {
    Reply reply = fixture("{}").call("test_logging_tool", "{}");

    assertEquals(at().stateless() ? 1 : 2, reply.messages().size());
  }

  @Test
  default void anUnknownLogLevelIsRejected() throws Exception {
    EraClient eraClient = fixture("{}");
    Reply refused =
        at().stateless()
            ? eraClient.call("test_simple_text", "{}", EraClient.logLevel("loud"))
            : eraClient.request("logging/setLevel", "\"level\":\"loud\"");

    assertEquals(INVALID_PARAMS, refused.errorCode());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ping", "logging/setLevel", "resources/subscribe"})
  default void sessionMethodsAreUnknownToStatelessRequests(String method) throws Exception {
    String members = "\"level\":\"info\",\"uri\":\"test://watched-resource\"";

    Reply reply = fixture("{}").request(method, members);

    if (at().stateless()) {
      assertEquals(404, reply.status());
      assertEquals(METHOD_NOT_FOUND, reply.errorCode());
    } else {
      assertTrue(reply.result().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"server/discover", "subscriptions/listen"})
  default void statelessMethodsAreUnknownToASession(String method) throws Exception {
    EraClient eraClient = fixture("{}");

    if (at().stateless()) {
      assertTrue(eraClient.initializeResult().has("supportedVersions"));
      eraClient.listen(null).close();
    } else {
      assertEquals(METHOD_NOT_FOUND, eraClient.request(method, "\"notifications\":{}").errorCode());
    }
  }

  @Test
  default void cancellationIsPassedOnToTheServer() throws Exception {
    EraClient eraClient = fixture("{}");
    int started = Integer.parseInt(eraClient.call("test_started", "{}").firstText());
    int cancelled = Integer.parseInt(eraClient.call("test_cancelled", "{}").firstText());
    Cancellation cancellation = eraClient.begin("test_slow");
    world()
        .bridge()
        .until(() -> eraClient.call("test_started", "{}").firstText().equals("" + (started + 1)));

    cancellation.cancel();

    world()
        .bridge()
        .until(
            () -> eraClient.call("test_cancelled", "{}").firstText().equals("" + (cancelled + 1)));
    assertEquals(0, world().bridge().get("/servers/a").body().path("pending_calls").asInt());
  }

  @Test
  default void listChangesAreNotifiedAndThenListed() throws Exception {
    EraClient eraClient = fixture("{}");
    int tools = eraClient.request("tools/list", "").result().path("tools").size();
    int resources = grownResources(eraClient);
    int prompts = eraClient.request("prompts/list", "").result().path("prompts").size();
    try (NotificationStream notificationStream = eraClient.listen(null)) {

      assertEquals("changed", eraClient.call("test_trigger_tool_change", "{}").firstText());
      assertEquals("changed", eraClient.call("test_trigger_prompt_change", "{}").firstText());
      assertEquals("changed", eraClient.call("test_trigger_resource_change", "{}").firstText());

      notificationStream.awaitNext("notifications/tools/list_changed");
      notificationStream.awaitNext("notifications/prompts/list_changed");
      notificationStream.awaitNext("notifications/resources/list_changed");
      assertEquals(tools + 1, eraClient.request("tools/list", "").result().path("tools").size());
      assertEquals(
          prompts + 1, eraClient.request("prompts/list", "").result().path("prompts").size());
      assertEquals(resources + 1, grownResources(eraClient));
    }
  }

  private static int grownResources(EraClient eraClient) throws Exception {
    return eraClient.request("resources/list", "").text().split("\"test://grown").length;
  }
}
