package dev.mcpbridge.it.toolcall;

import static dev.mcpbridge.fixture.ModelFormat.OPENAI_CHAT;
import static dev.mcpbridge.fixture.ModelFormat.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lean discovery: three tools instead of the whole catalogue. */
@Tag("toolcall")
class LeanDiscoveryIT {
  private static final List<String> THREE = List.of("call_tool", "describe_tool", "search_tools");
  private static final String TOOLS =
      """
      [{"name": "sendMessage", "description": "Writes to a colleague.",
        "inputSchema": {"type": "object", "properties": {"recipientAddress": {"type": "string",
          "description": "A mailbox"}}, "required": ["recipientAddress"]}},
       {"name": "list_folders", "title": "Inbox", "description": "Shows what came in.",
        "inputSchema": {"type": "object"}},
       {"name": "list_folders_of_others", "description": "list_folders, list folders, list folders",
        "inputSchema": {"type": "object", "properties": {"list_folders": {}}}}]
      """;

  @TempDir static Path folder;
  @AutoClose private static TestBridge bridge;

  /** The era of MCP that a client uses. */
  enum Era {
    SESSION,
    STATELESS
  }

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.of(
                "{'mcpServers':{'s':"
                    + TestBridge.entry("'env':{'EFFECTS':'" + folder.resolve("effects") + "'}")
                    + ",'mail':"
                    + CatalogueServer.entry(folder.resolve("mail"), TOOLS, "")
                    + "}}")
            .awaitReady("s", "mail");
  }

  @BeforeEach
  void deleteEffects() throws Exception {
    Files.deleteIfExists(folder.resolve("effects"));
  }

  /** An MCP client of one era. */
  private record ModelClient(McpClient client, Era era) {
    static ModelClient of(Era era, String path, String capabilities) throws Exception {
      McpClient client = new McpClient(bridge.uri(path), capabilities);
      if (era == Era.SESSION) {
        client.initialize();
      }
      return new ModelClient(client, era);
    }

    Reply request(String method, String members) throws Exception {
      return era == Era.SESSION
          ? client.request(method, "{" + members + "}")
          : client.stateless(method, members);
    }

    Reply call(String tool, String arguments) throws Exception {
      return request("tools/call", "\"name\":\"" + tool + "\",\"arguments\":" + arguments);
    }

    List<String> search(String query) throws Exception {
      Reply reply = call("search_tools", "{\"query\":" + quoted(query) + "}");
      assertFalse(reply.result().path("isError").asBoolean(), reply.toString());
      return names(reply.result().path("structuredContent"));
    }
  }

  private static String quoted(String text) {
    return Json.mapper().getNodeFactory().textNode(text).toString();
  }

  private static List<String> names(JsonNode list) {
    List<String> names = new ArrayList<>();
    list.path("tools").forEach(tool -> names.add(tool.path("name").asText()));
    return names;
  }

  private static String callArguments(String tool, String arguments) {
    return "{\"name\":\"" + tool + "\",\"arguments\":" + arguments + "}";
  }

  @ParameterizedTest
  @EnumSource
  void threeToolsSearchDescribeAndCallAllOthers(Era era) throws Exception {
    for (String path : List.of("/mcp", "/servers/mail/mcp")) {
      String prefix = path.equals("/mcp") ? "mail__" : "";
      ModelClient model = ModelClient.of(era, path + "?discovery=search", "{}");

      JsonNode listed = model.request("tools/list", "").result();
      assertEquals(THREE, names(listed).stream().sorted().toList());
      listed
          .path("tools")
          .forEach(tool -> assertEquals("object", tool.at("/inputSchema/type").asText()));

      JsonNode found = model.call("search_tools", "{\"query\":\"message\"}").result();
      JsonNode first = found.at("/structuredContent/tools/0");
      assertEquals(prefix + "sendMessage", first.path("name").asText());
      assertEquals("Writes to a colleague.", first.path("description").asText());
      assertEquals(
          found.path("structuredContent"),
          Json.mapper().readTree(found.at("/content/0/text").asText()));

      JsonNode described =
          model
              .call("describe_tool", "{\"name\":\"" + prefix + "sendMessage\"}")
              .result()
              .path("structuredContent");
      assertEquals(prefix + "sendMessage", described.path("name").asText());
      assertEquals(
          "string",
          described.at("/inputSchema/properties/recipientAddress/type").asText(),
          described.toString());

      JsonNode called =
          model
              .call(
                  "call_tool",
                  callArguments(prefix + "sendMessage", "{\"recipientAddress\":\"ü\"}"))
              .result()
              .path("structuredContent");
      assertEquals("sendMessage", called.path("tool").asText());
      assertEquals("ü", called.at("/arguments/recipientAddress").asText());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "sendMessage,mail__sendMessage",
    "send_message,mail__sendMessage",
    "send message,mail__sendMessage",
    "mesage,mail__sendMessage",
    "COLLEAGUE,mail__sendMessage",
    "coleague,mail__sendMessage",
    "recipientAddress,mail__sendMessage",
    "recipient_address,mail__sendMessage",
    "mailbox,mail__sendMessage",
    "inbox,mail__list_folders",
    "list_folders,mail__list_folders",
    "mail__list_folders,mail__list_folders",
    "listFolders of others,mail__list_folders_of_others",
    "ask_twice,s__ask_twice",
    "ask,s__ask",
  })
  void searchRanksTheExpectedToolFirst(String query, String first) throws Exception {
    ModelClient model = ModelClient.of(Era.STATELESS, "/mcp?discovery=search", "{}");

    assertEquals(first, model.search(query).get(0));
  }

  @Test
  void searchReturnsTenToolsUnlessLimited() throws Exception {
    ModelClient model = ModelClient.of(Era.STATELESS, "/mcp?discovery=search", "{}");

    assertEquals(10, model.search("plays").size());
    for (int limit : List.of(1, 3, 30)) {
      JsonNode found =
          model.call("search_tools", "{\"query\":\"plays\",\"limit\":" + limit + "}").result();
      assertEquals(limit, found.at("/structuredContent/tools").size());
    }
    assertEquals(List.of(), model.search("quetzalcoatl"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "!?",
        "name:\"x\" OR (*:*)",
        "\"(((",
        "🎉",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q r"
      })
  void unusualQueryIsAnswered(String query) throws Exception {
    ModelClient model = ModelClient.of(Era.STATELESS, "/mcp?discovery=search", "{}");

    assertTrue(model.search(query).size() <= 10);
    assertTrue(model.search(query.repeat(500)).size() <= 10);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "search_tools  | {}                                   | query",
        "search_tools  | {\"query\":\"\"}                     | query",
        "search_tools  | {\"query\":[]}                       | query",
        "search_tools  | {\"query\":\"x\",\"limit\":0}        | limit",
        "search_tools  | {\"query\":\"x\",\"limit\":51}       | limit",
        "search_tools  | {\"query\":\"x\",\"limit\":-1}       | limit",
        "describe_tool | {}                                   | name",
        "describe_tool | {\"name\":7}                         | name",
        "describe_tool | {\"name\":\"s__nope\"}               | s__nope",
        "call_tool     | {}                                   | name",
        "call_tool     | {\"name\":\"s__nope\"}               | s__nope",
        "call_tool     | {\"name\":\"s__echo\",\"arguments\":[]} | arguments",
        "call_tool     | {\"name\":\"s__echo\",\"arguments\":\"{}\"} | arguments",
        "call_tool     | {\"name\":\"search_tools\"}          | search_tools",
        "call_tool     | {\"name\":\"mail__sendMessage\"}     | recipientAddress",
        "call_tool     | {\"name\":\"s__sleep\",\"arguments\":{\"ms\":\"x\"}} | ms",
      })
  void invalidArgumentsYieldAReadableError(String tool, String arguments, String fragment)
      throws Exception {
    for (Era era : Era.values()) {
      Reply reply =
          ModelClient.of(era, "/mcp?discovery=search", "{}").call(tool.strip(), arguments.strip());

      assertTrue(reply.result().path("isError").asBoolean(), reply.toString());
      assertTrue(reply.firstText().contains(fragment), reply.firstText());
    }
    JsonNode response = singleCall(tool.strip(), arguments.strip());
    assertEquals("failed", response.path("outcome").asText(), response.toString());
    assertTrue(response.at("/output/error").asText().contains(fragment), response.toString());
  }

  @ParameterizedTest
  @EnumSource
  void unlistedToolCannotBeCalledDirectly(Era era) throws Exception {
    ModelClient model = ModelClient.of(era, "/mcp?discovery=search", "{}");

    Reply reply = model.call("s__effect", "{\"ms\":0}");

    boolean isError = reply.errorCode() != 0 || reply.result().path("isError").asBoolean();
    assertTrue(isError, reply.toString());
    assertTrue(reply.text().contains("s__effect"), "the tool is not named: " + reply.text());
    assertTrue(reply.text().contains("call_tool"), "call_tool is not suggested: " + reply.text());
    assertEquals("failed", singleCall("s__effect", "{\"ms\":0}").path("outcome").asText());
    assertFalse(Files.exists(folder.resolve("effects")));
  }

  @ParameterizedTest
  @EnumSource
  void everyFormatSupportsLeanDiscovery(ModelFormat format) throws Exception {
    String query = "?discovery=search&format=" + format.value();
    List<String> listed = new ArrayList<>();
    format
        .functions(bridge.get("/toolcall/tools" + query).body().path("tools"))
        .forEach(function -> listed.add(function.path("name").asText()));
    assertEquals(THREE, listed.stream().sorted().toList());

    JsonNode responses =
        bridge
            .post(
                "/toolcall" + query,
                format.turn(
                    call("1", "search_tools", "{\"query\":\"coleague\"}"),
                    call("2", "describe_tool", "{\"name\":\"mail__sendMessage\"}"),
                    call("3", "call_tool", callArguments("s__echo", "{\"d\":1.10}"))))
            .body();

    assertEquals(
        List.of("mail__sendMessage"), names(responses.at("/tool_responses/0/structured_content")));
    assertTrue(responses.at("/tool_responses/1").toString().contains("recipientAddress"));
    assertEquals(
        "{\"d\":1.10}",
        bridge
            .post(
                "/toolcall" + query,
                format.turn(call("1", "call_tool", callArguments("s__echo", "{\"d\":1.10}"))))
            .text()
            .replaceAll("(?s).*\"structured_content\":(\\{[^}]*}).*", "$1"));
    assertEquals(3, format.toolAnswers(responses.path("messages")).size());
  }

  private static JsonNode singleCall(String function, String arguments) throws Exception {
    Answer answer =
        bridge.post(
            "/toolcall?discovery=search", OPENAI_CHAT.turn(call("only", function, arguments)));
    return answer.body().at("/tool_responses/0");
  }

  @Test
  void invalidDiscoveryModeIsRejected() throws Exception {
    String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    for (String query : List.of("nonsense", "", "SEARCH", "search&discovery=all")) {
      for (String path : List.of("/mcp", "/servers/s/mcp", "/toolcall")) {
        Answer answer = bridge.post(path + "?discovery=" + query, list);
        assertEquals(400, answer.status(), path + " " + query + answer);
      }
      assertEquals(400, bridge.get("/toolcall/tools?discovery=" + query).status(), query);
    }
    ModelClient all = ModelClient.of(Era.STATELESS, "/mcp?discovery=all", "{}");
    assertTrue(names(all.request("tools/list", "").result()).contains("s__echo"));
  }

  @Test
  void searchFollowsAddedAndRemovedServers() throws Exception {
    ModelClient session = ModelClient.of(Era.SESSION, "/mcp?discovery=search", "{}");
    assertFalse(session.search("zebra").contains("late__zebra"));
    String tools = "[{\"name\":\"zebra\",\"inputSchema\":{\"type\":\"object\"}}]";

    addServer("late", tools);

    assertEquals("late__zebra", session.search("zebra").get(0));
    assertEquals(
        "zebra",
        session
            .call("call_tool", callArguments("late__zebra", "{}"))
            .at("/structuredContent/tool"));
    bridge.delete("/servers/late");
    bridge.until(() -> !session.search("zebra").contains("late__zebra"));
    assertTrue(
        session
            .call("call_tool", callArguments("late__zebra", "{}"))
            .result()
            .path("isError")
            .asBoolean());
  }

  private static void addServer(String id, String tools) throws Exception {
    String entry = CatalogueServer.entry(folder.resolve(id), tools, "");
    Answer added =
        bridge.post("/servers", TestBridge.json("{'id':'" + id + "'," + entry.substring(1)));
    assertTrue(added.status() < 300, added.toString());
    bridge.until(() -> bridge.state(id).equals("ready"));
  }

  @Test
  void concurrentSearchesSucceedWhileServersChange() throws Exception {
    String tools = "[{\"name\":\"passing\",\"inputSchema\":{\"type\":\"object\"}}]";
    ExecutorService executor = Executors.newFixedThreadPool(16);
    try {
      Callable<List<String>> search =
          () -> ModelClient.of(Era.STATELESS, "/mcp?discovery=search", "{}").search("sendMessage");
      List<Future<List<String>>> searches = new ArrayList<>();
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 20; i++) {
          searches.add(executor.submit(search));
        }
        addServer("passing", tools);
        bridge.delete("/servers/passing");
        bridge.until(() -> bridge.get("/servers/passing").status() == 404);
      }
      for (Future<List<String>> found : searches) {
        assertEquals("mail__sendMessage", found.get(60, TimeUnit.SECONDS).get(0));
      }
    } finally {
      executor.shutdownNow();
    }
    bridge.assertAlive();
  }
}
