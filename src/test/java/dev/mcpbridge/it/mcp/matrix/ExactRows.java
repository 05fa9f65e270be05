package dev.mcpbridge.it.mcp.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.NotificationStream;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.RawJson;
import dev.mcpbridge.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Content that must pass verbatim: numbers, escapes, unknown members, pages. */
public interface ExactRows extends Rows {
  String ODD = ExactServer.ODD;

  @Test
  default void toolDefinitionsOfAllPagesAreThoseOfTheServer() throws Exception {
    EraClient eraClient = exact("{}");

    List<String> listed = RawJson.elements(body(eraClient.request("tools/list", "")).get("tools"));

    List<String> expected =
        ExactServer.TOOLS.stream()
            .filter(tool -> !tool.equals(ExactServer.SPACED))
            .map(tool -> renamed(eraClient, tool))
            .toList();
    assertEquals(
        expected,
        listed.stream()
            .filter(tool -> !tool.contains("\"y__") && !tool.contains("spaced\""))
            .filter(tool -> !at().aggregated() || tool.contains("\"x__"))
            .toList());
  }

  @Test
  default void whitespaceInADefinitionIsPreserved() throws Exception {
    EraClient eraClient = exact("{}");

    List<String> listed = RawJson.elements(body(eraClient.request("tools/list", "")).get("tools"));

    String expected = renamed(eraClient, ExactServer.SPACED);
    assertTrue(listed.contains(expected), () -> expected + " is not in " + listed);
  }

  @ParameterizedTest
  @CsvSource({"prompts/list,prompts", "resources/templates/list,resourceTemplates"})
  default void promptAndTemplateDefinitionsAreThoseOfTheServer(String method, String list)
      throws Exception {
    EraClient eraClient = exact("{}");

    List<String> listed = RawJson.elements(body(eraClient.request(method, "")).get(list));

    String expected =
        list.equals("prompts") ? renamed(eraClient, ExactServer.PROMPT) : ExactServer.TEMPLATE;
    assertTrue(listed.contains(expected), listed.toString());
  }

  @Test
  default void aLongListIsPaginated() throws Exception {
    EraClient eraClient = exact("{}");
    List<String> all = new ArrayList<>();
    String cursor = "";
    int pages = 0;

    do {
      Map<String, String> page = body(eraClient.request("resources/list", cursor));
      all.addAll(RawJson.elements(page.get("resources")));
      cursor = page.containsKey("nextCursor") ? "\"cursor\":" + page.get("nextCursor") : null;
      pages++;
    } while (cursor != null);

    assertTrue(pages >= 2, pages + " pages");
    assertEquals(
        ExactServer.RESOURCES, all.stream().filter(entry -> entry.contains("\"exact://")).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"\"", "\"made up\"", "7"})
  default void anUnknownCursorIsRejected(String cursor) throws Exception {
    Reply reply = exact("{}").request("resources/list", "\"cursor\":" + cursor);

    assertEquals(INVALID_PARAMS, reply.errorCode());
  }

  @Test
  default void serverInfoIsTheBridgesOnlyAtTheAggregatedEndpoint() throws Exception {
    EraClient eraClient = exact("{}");

    var result = eraClient.initializeResult();

    var info =
        at().stateless() ? result.path("_meta").path(SERVER_INFO) : result.path("serverInfo");
    if (at().aggregated()) {
      assertEquals("mcp-bridge", info.path("name").asText());
    } else {
      assertEquals(Json.mapper().readTree(ExactServer.INFO), info);
      assertEquals("Say it", result.path("instructions").asText());
    }
    assertTrue(result.at("/capabilities/tools/listChanged").asBoolean());
    assertTrue(result.at("/capabilities/resources/subscribe").asBoolean());
    assertTrue(result.at("/capabilities").has("completions"));
    assertTrue(result.at("/capabilities").has("logging"));
  }

  @Test
  default void anErrorIsPassedOnVerbatim() throws Exception {
    Reply reply = exact("{}").call("fail", "{\"code\":-1234}");

    Map<String, String> error = error(reply);
    Map<String, String> expected = RawJson.members("{" + ExactServer.FAILURE + "}");
    expected.put("code", "-1234");
    assertEquals(expected, error);
  }

  @ParameterizedTest
  @ValueSource(ints = {-32042, -32002, -32099})
  default void reservedErrorCodesAreReplacedForAStatelessClient(int code) throws Exception {
    Reply reply = exact("{}").call("fail", "{\"code\":" + code + "}");

    assertEquals(at().stateless() ? -32603 : code, reply.errorCode(), reply.text());
    assertTrue(reply.text().contains(ODD), reply.text());
  }

  @Test
  default void aMissingResourceHasTheErrorCodeOfTheEra() throws Exception {
    String uri = "exact://template/nothing";

    Reply reply = exact("{}").request("resources/read", "\"uri\":\"" + uri + "\"");

    boolean legacy = !at().stateless() && !at().upstream().modern();
    assertEquals(legacy ? -32002 : INVALID_PARAMS, reply.errorCode(), reply.text());
    assertEquals(uri, reply.last().at("/error/data/uri").asText(), reply.text());
  }

  private static Map<String, String> error(Reply reply) {
    return RawJson.members(RawJson.members(reply.raw().get(reply.raw().size() - 1)).get("error"));
  }

  @Test
  default void aStatelessServerReceivesTheClientsCapabilities() throws Exception {
    String capabilities = "{\"elicitation\":{\"form\":{}},\"extensions\":{\"a/b\":" + ODD + "}}";

    String params = exact(capabilities).call("said", "{}").firstText();

    Map<String, String> meta = RawJson.members(RawJson.members(params).getOrDefault("_meta", "{}"));
    assertEquals(
        at().upstream().modern() ? capabilities : null,
        meta.get("io.modelcontextprotocol/clientCapabilities"));
  }

  @Test
  default void aResultIsPassedOnVerbatim() throws Exception {
    Reply reply = exact("{}").call("exact", "{}");

    assertEquals(RawJson.members(ExactServer.RESULT), body(reply));
    assertTrue(reply.text().contains(ExactServer.RESULT.substring(1, 1 + ODD.length())));
  }

  @Test
  default void argumentsAndUnknownMembersReachAToolVerbatim() throws Exception {
    EraClient eraClient = exact("{}");

    Reply reply =
        eraClient.request(
            "tools/call", eraClient.callParams("said", ODD) + ",\"x-unknown\":" + ODD, meta());

    assertArrived(reply.firstText(), "\"said\"");
  }

  @Test
  default void argumentsAndUnknownMembersReachAPromptVerbatim() throws Exception {
    EraClient eraClient = exact("{}");

    Reply reply =
        eraClient.request(
            "prompts/get", eraClient.callParams("said", ODD) + ",\"x-unknown\":" + ODD, meta());

    assertArrived(reply.at("/messages/0/content/text"), "\"said\"");
    assertTrue(body(reply).get("messages").endsWith(",\"x-unknown\":" + ODD + "}}]"));
    assertEquals("1.10", body(reply).get("x-unknown"));
  }

  @Test
  default void unknownMembersReachAResourceVerbatim() throws Exception {
    Reply reply =
        exact("{}").request("resources/read", "\"uri\":\"exact://0\",\"x-unknown\":" + ODD, meta());

    assertArrived(reply.at("/contents/0/text"), null);
    assertTrue(body(reply).get("contents").endsWith(",\"x-unknown\":" + ODD + "}]"));
    assertEquals("1.10", body(reply).get("x-unknown"));
  }

  @Test
  default void unknownMembersReachACompletionVerbatim() throws Exception {
    EraClient eraClient = exact("{}");

    Reply reply =
        eraClient.request(
            "completion/complete",
            "\"ref\":{\"type\":\"ref/prompt\",\"x\":1.10,\"name\":\""
                + eraClient.name("said")
                + "\"},\"argument\":{\"name\":\"a\",\"value\":\"\",\"x\":1e2},"
                + "\"context\":{\"arguments\":{},\"x\":1.10},\"x-unknown\":"
                + ODD,
            meta());

    String received = reply.at("/completion/values/0");
    Map<String, String> params = RawJson.members(received);
    assertEquals("{\"type\":\"ref/prompt\",\"x\":1.10,\"name\":\"said\"}", params.get("ref"));
    assertEquals("{\"name\":\"a\",\"value\":\"\",\"x\":1e2}", params.get("argument"));
    assertEquals("{\"arguments\":{},\"x\":1.10}", params.get("context"));
    assertArrived(received, null);
    assertTrue(body(reply).get("completion").endsWith(",\"total\":1e2}"));
  }

  private static String meta() {
    return "\"example.com/v\":1.10,\"traceparent\":\"00-1-2-3\",\"x\":" + ODD;
  }

  private static void assertArrived(String received, String name) {
    Map<String, String> params = RawJson.members(received);
    if (name != null) {
      assertEquals(name, params.get("name"));
      assertEquals(ODD, params.get("arguments"));
    }
    Map<String, String> meta = RawJson.members(params.getOrDefault("_meta", "{}"));
    assertEquals("1.10", meta.get("example.com/v"), received);
    assertEquals("\"00-1-2-3\"", meta.get("traceparent"), received);
    assertEquals(ODD, meta.get("x"), received);
    assertEquals(ODD, params.get("x-unknown"), received);
  }

  @Test
  default void notificationsOfACallArePassedOnVerbatim() throws Exception {
    String level = at().stateless() ? "," + EraClient.logLevel("debug") : "";

    Reply reply = exact("{}").call("news", "{}", "\"progressToken\":\"t\"" + level);

    Map<String, String> progress = params(reply.raw().get(0));
    assertEquals("\"t\"", progress.remove("progressToken"));
    Map<String, String> news = RawJson.members("{" + ExactServer.NEWS + "}");
    news.putAll(Map.of("progress", "1.10", "total", "1e2"));
    assertEquals(news, progress);
    Map<String, String> log = RawJson.members("{" + ExactServer.NEWS + "}");
    log.putAll(Map.of("level", "\"error\"", "data", ODD));
    assertEquals(log, params(reply.raw().get(1)));
  }

  private static Map<String, String> params(String notification) {
    return RawJson.members(RawJson.members(notification).get("params"));
  }

  @Test
  default void aResourceUpdateIsPassedOnVerbatim() throws Exception {
    EraClient eraClient = exact("{}");
    try (NotificationStream notificationStream = eraClient.listen("exact://0")) {

      Map<String, String> update =
          params(
              awaitFirst(
                  notificationStream,
                  "notifications/resources/updated",
                  () -> eraClient.call("touch", "{}")));

      assertEquals("\"exact://0\"", update.get("uri"));
      assertEquals("1.10", update.get("x-unknown"));
      Map<String, String> meta = RawJson.members(update.getOrDefault("_meta", "{}"));
      assertEquals("1.10", meta.get("example.com/v"), update.toString());
      String subscription = meta.get("io.modelcontextprotocol/subscriptionId");
      if (at().stateless()) {
        assertFalse(subscription.isEmpty());
      } else {
        assertNull(subscription);
      }
    }
  }

  @Test
  default void anElicitationAndItsResponseArePassedOnVerbatim() throws Exception {
    String answer = "{\"action\":\"accept\",\"content\":{\"n\":1.10},\"x-unknown\":" + ODD + "}";
    EraClient eraClient = exact("{\"elicitation\":{}}").withRequestHandler(request -> answer);

    Reply reply = eraClient.call("ask", "{}");

    assertEquals(1, eraClient.serverRequests().size());
    assertEquals(
        ExactServer.QUESTION, RawJson.members(eraClient.serverRequests().get(0)).get("params"));
    if (at().upstream().modern()) {
      Map<String, String> params = RawJson.members(reply.firstText());
      assertEquals(answer, RawJson.members(params.get("inputResponses")).get("q"));
      assertEquals("\"" + ExactServer.STATE + "\"", params.get("requestState"));
    } else {
      assertEquals("RESULT " + answer, reply.firstText());
    }
  }

  @Test
  default void anErrorResponseToAnElicitationIsNotAnAnswer() throws Exception {
    EraClient eraClient =
        exact("{\"elicitation\":{}}")
            .withRequestHandler(
                request ->
                    at().stateless()
                        ? "{\"action\":\"cancel\"}"
                        : "error {\"code\":-1,\"message\":\"I will not\"}");

    Reply reply = eraClient.call("ask", "{}");

    if (at().stateless()) {
      assertTrue(reply.firstText().contains("{\"action\":\"cancel\"}"), reply.text());
    } else if (at().upstream().modern()) {
      assertTrue(reply.last().has("error"), reply.text());
    } else {
      assertTrue(reply.firstText().startsWith("ERROR "), reply.text());
    }
  }
}
