package dev.mcpbridge.it.toolcall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EchoApi.Request;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A function executor as a server of tools. */
@Tag("toolcall")
class FunctionExecutorIT {
  private static final List<String> FUNCTIONS =
      List.of(
          """
          echo text error soft flagged structured list number null neither stranger garbage page
          empty nolist stream badstream refused gone failed busy breaksoff hangs huge"""
              .split("\\s+"));
  private static final Map<String, EchoApi.Script> RESPONSES = new ConcurrentHashMap<>();
  @AutoClose private static EchoApi executor;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    output("text", "\"output\":{\"result\":\"done\"}");
    output("error", "\"error\":\"it broke\"");
    output("soft", "\"output\":{\"error\":\"no such file\"}");
    output("flagged", "\"output\":\"sorry\",\"is_error\":true");
    output("structured", "\"output\":{\"n\":1.10,\"big\":12345678901234567890,\"l\":[]}");
    output("list", "\"output\":[1.10,2]");
    output("number", "\"output\":{\"result\":1.10}");
    output("null", "\"output\":null");
    output("neither", "\"status\":\"fine\"");
    output("huge", "\"output\":\"" + "x".repeat(17 << 20) + "\"");
    RESPONSES.put(
        "stranger",
        EchoApi.json(
            "{\"tool_responses\":[{\"tool_call_id\":\"call_0\",\"output\":\"not yours\"}]}"));
    RESPONSES.put("garbage", EchoApi.json("{\"tool_responses\":["));
    RESPONSES.put("page", EchoApi.respondWith(200, "text/html", "<html>Log in</html>"));
    RESPONSES.put("empty", EchoApi.respondWith(200, null, ""));
    RESPONSES.put("nolist", EchoApi.json("{\"tool_responses\":7}"));
    RESPONSES.put("badstream", EchoApi.respondWith(200, "text/event-stream", ": nothing\n\n"));
    RESPONSES.put("refused", EchoApi.respondWith(403, "text/plain", "no"));
    RESPONSES.put("gone", EchoApi.respondWith(404, "text/plain", "no"));
    RESPONSES.put("failed", EchoApi.respondWith(500, "text/plain", "no"));
    RESPONSES.put("busy", EchoApi.respondWith(503, "text/plain", "later"));
    RESPONSES.put("breaksoff", EchoApi.truncateResponse());
    RESPONSES.put("hangs", EchoApi.neverRespond());
    RESPONSES.put(
        "stream",
        (request, peer) ->
            peer.write(
                200,
                "text/event-stream",
                ("event: progress\ndata: {\"percent\":50}\n\n: still here\n\ndata: "
                        + responses(request, "\"output\":\"streamed\"").replace(",", ",\ndata: ")
                        + "\n\ndata: [DONE]\n\n")
                    .getBytes(StandardCharsets.UTF_8)));
    RESPONSES.put(
        "echo",
        (request, peer) ->
            respond(request, peer, "\"output\":" + call(request).at("/function/arguments")));
    executor = running(EchoApi.start());
    bridge =
        TestBridge.of(
                """
            {'mcpServers':{'s':{%s,'risk':{'tools':{'gone':2}},'timeout':20},
            'brief':{%s,'timeout':2}}}"""
                    .formatted(entry(executor, "/run", ""), entry(executor, "/run", "")))
            .awaitReady("s", "brief");
  }

  private static void output(String function, String members) {
    RESPONSES.put(function, (request, peer) -> respond(request, peer, members));
  }

  private static boolean respond(Request request, EchoApi.Peer peer, String members)
      throws java.io.IOException {
    return peer.write(
        200, "application/json", responses(request, members).getBytes(StandardCharsets.UTF_8));
  }

  private static String responses(Request request, String members) {
    return "{\"tool_responses\":[{\"tool_call_id\":\"other\",\"output\":1},{\"tool_call_id\":%s,%s}]}"
        .formatted(call(request).path("id"), members);
  }

  private static JsonNode call(Request request) {
    try {
      return Json.mapper().readTree(request.body()).at("/tool_calls/0");
    } catch (java.io.IOException e) {
      throw new AssertionError(request.text(), e);
    }
  }

  /** Serves {@link #RESPONSES}; a turn without calls gets an empty list of responses. */
  private static EchoApi running(EchoApi api) {
    return api.on(
        "/run",
        (request, peer) -> {
          String name = call(request).at("/function/name").asText();
          return name.isEmpty()
              ? peer.write(
                  200,
                  "application/json",
                  "{\"tool_responses\":[]}".getBytes(StandardCharsets.UTF_8))
              : RESPONSES.get(name).answer(request, peer);
        });
  }

  private static String functions() {
    return "[%s]"
        .formatted(
            String.join(
                ",",
                FUNCTIONS.stream()
                    .map(
                        name ->
                            "{'type':'function','function':{'name':'"
                                + name
                                + "','description':'does "
                                + name
                                + "','parameters':{'type':'object','properties':{'n':{'type':"
                                + "'number'}}}}}")
                    .toList()));
  }

  private static String entry(EchoApi at, String path, String keys) {
    return "'type':'toolcall','url':'%s','headers':{'X-Key':'of-the-operator'},%s"
        .formatted(at.url(path), keys.isEmpty() ? "'tools':" + functions() : keys);
  }

  @AfterEach
  void alive() throws Exception {
    assertEquals("done", bridge.call("text", "{}").firstText());
    assertEquals("ready", bridge.state("s"));
  }

  private static List<Request> calls(String function) {
    return executor.requests().stream()
        .filter(request -> call(request).at("/function/name").asText().equals(function))
        .toList();
  }

  @Test
  void argumentsAreForwardedUnchanged() throws Exception {
    String arguments =
        "{\"n\":1.10,\"big\":12345678901234567890,\"e\":1E2,\"s\":\"\\u00e9\\/\\\"ü\",\"o\":{}}";

    Answer answer = bridge.call("echo", arguments);

    Request seen = executor.lastRequest();
    assertEquals("POST /run HTTP/1.1", seen.line());
    assertEquals("application/json", seen.header("content-type"));
    assertEquals("of-the-operator", seen.header("x-key"));
    assertEquals("function", call(seen).path("type").asText());
    assertEquals(arguments, call(seen).at("/function/arguments").asText());
    assertEquals(arguments, answer.firstText());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "text | done | false", "error | it broke | true", "soft | no such file | true",
        "flagged | sorry | true", "list | [1.10,2] | false", "number | 1.10 | false",
        "null | null | false", "stream | streamed | false"
      })
  void outputBecomesAResult(String function, String expected, boolean isError) throws Exception {
    int before = calls(function).size();

    Answer answer = bridge.call(function, "{}");

    assertEquals(200, answer.status(), answer.text());
    assertEquals(expected, answer.firstText());
    assertEquals(isError, answer.body().path("isError").asBoolean());
    assertFalse(answer.body().has("structuredContent"));
    assertEquals(before + 1, calls(function).size());
  }

  @Test
  void objectOutputBecomesStructuredContent() throws Exception {
    String object = "{\"n\":1.10,\"big\":12345678901234567890,\"l\":[]}";

    Answer answer = bridge.call("structured", "{}");

    assertEquals(object, answer.firstText());
    assertTrue(answer.text().contains("\"structuredContent\":" + object), answer.text());
  }

  @ParameterizedTest
  @CsvSource({
    "neither,unknown", "stranger,unknown", "garbage,unknown", "page,unknown", "empty,unknown",
    "nolist,unknown", "badstream,unknown", "refused,no", "failed,unknown", "busy,unknown",
    "breaksoff,unknown", "huge,yes"
  })
  void invalidResponseIsAnErrorWithoutRetry(String function, String executed) throws Exception {
    int before = calls(function).size();

    Answer answer = bridge.call(function, "{}");

    assertEquals(502, answer.status(), answer.text());
    assertEquals(executed, answer.at("/executed"), answer.text());
    assertFalse(answer.text().contains("not yours"));
    assertEquals(before + 1, calls(function).size());
  }

  @Test
  void callIsCancelledAtItsDeadline() throws Exception {
    int left = executor.disconnects();

    Answer answer = bridge.post("/servers/brief/tools/hangs", "{}");

    assertEquals(504, answer.status(), answer.text());
    bridge.until(() -> executor.disconnects() == left + 1);
    assertEquals(1, calls("hangs").size());
  }

  @Test
  void functionsAreAvailableOverEveryApi() throws Exception {
    assertEquals(FUNCTIONS.size(), bridge.get("/servers/s").body().path("tool_count").asInt());
    String listed = bridge.get("/servers/s/tools").text();
    assertTrue(listed.contains("\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\""));
    assertTrue(bridge.get("/toolcall/tools").text().contains("does echo"));

    McpClient client = new McpClient(bridge.uri("/mcp"), "{}").initialized();
    List<String> names =
        client
            .request("tools/list", "{}")
            .result()
            .path("tools")
            .valueStream()
            .map(tool -> tool.path("name").asText())
            .toList();
    String own = names.stream().filter(name -> name.matches("s.+text")).findFirst().orElseThrow();
    assertEquals("done", client.call(own, "{}").firstText());
    assertEquals("done", bridge.call("text", "{}").firstText());
    assertEquals(422, bridge.call("text", "{\"n\":\"x\"}").status());
  }

  @Test
  void riskyFunctionRequiresConfirmation() throws Exception {
    Answer pending = bridge.call("gone", "{}");

    assertTrue(pending.body().has("confirmation_id"), pending.text());
    assertEquals(0, calls("gone").size());
    bridge.post(
        "/confirmations/" + pending.at("/confirmation_id"),
        "{\"confirm\":true,\"token\":\"" + pending.at("/token") + "\"}");
    assertEquals(1, calls("gone").size());
  }

  @Test
  void functionsAreReadFromAFileOrAUrl(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("tools.json"),
            "[{\"name\":\"text\",\"parameters\":{\"type\":\"object\",\"x-odd\":1.10}}]");
    executor.on(
        "/tools", 200, "application/json", "{\"tools\":[{\"function\":{\"name\":\"list\"}}]}");
    try (TestBridge own =
        TestBridge.of(
                "{'mcpServers':{'s':{"
                    + entry(executor, "/run", "'toolsFile':'" + file + "'")
                    + "},'t':{"
                    + entry(executor, "/run", "'toolsUrl':'" + executor.url("/tools") + "'")
                    + "}}}")
            .awaitReady("s", "t")) {

      assertEquals("done", own.call("text", "{}").firstText());
      assertTrue(own.get("/servers/s/tools").text().contains("\"x-odd\":1.10"));
      assertEquals("[1.10,2]", own.post("/servers/t/tools/list", "{}").firstText());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "7", "[{}]", "[{\"name\":1}]", "<html>", "", "[7]"})
  void invalidDefinitionsAreReportedInTheState(String definitions) throws Exception {
    executor.on("/bad", 200, "application/json", definitions);
    try (TestBridge own =
        TestBridge.of(
            "{'mcpServers':{'s':{"
                + entry(executor, "/run", "'toolsUrl':'" + executor.url("/bad") + "'")
                + "}}}")) {
      own.until(() -> !own.get("/servers/s").body().path("last_error").isNull());

      String error = own.get("/servers/s").at("/last_error");

      assertTrue(error.contains("function definitions cannot be used"), error);
    }
  }

  @Test
  void executorOutageIsDetectedAndRecovered() throws Exception {
    EchoApi first = running(EchoApi.start());
    int port = first.port();
    try (TestBridge own =
        TestBridge.of(
                "{'mcpServers':{'s':{%s,'heartbeat':0.2,'maxRestartDelay':0.5}}}"
                    .formatted(entry(first, "/run", "")))
            .awaitReady("s")) {
      first.on("/run", 500, "text/plain", "no");
      own.until(() -> !own.state("s").equals("ready"));
      running(first);
      own.awaitReady("s");

      first.close();
      Answer failed = own.call("text", "{}");
      assertEquals("no", failed.at("/executed"), failed.text());
      own.until(() -> !own.state("s").equals("ready"));

      try (EchoApi restarted = running(EchoApi.onPort(port))) {
        own.awaitReady("s");
        assertEquals("done", own.call("text", "{}").firstText());
        assertEquals(
            1, restarted.requests().stream().filter(r -> !call(r).isMissingNode()).count());
      }
    }
  }
}
