package dev.mcpbridge.it.stdio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server based on the Python SDK, over each transport and in each era it supports. */
@Tag("stdio")
class SdkServersIT {
  private static final String FORMS = "{\"elicitation\":{\"form\":{}}}";
  private static final List<Process> SERVERS = new ArrayList<>();
  private static TestBridge bridge;

  @ParameterizedTest
  @CsvSource({
    "stdio-legacy,2025-11-25",
    "stdio-modern,2026-07-28",
    "http-legacy,2025-11-25",
    "http-modern,2026-07-28",
    "sse-legacy,2025-11-25",
    "sse-modern,2026-07-28"
  })
  @Retention(RetentionPolicy.RUNTIME)
  private @interface OverEachTransport {}

  @BeforeAll
  static void start() throws Exception {
    String http = "'url':'http://127.0.0.1:" + port("http") + "/mcp'";
    String sse = "'type':'sse','url':'http://127.0.0.1:" + port("sse") + "/sse'";
    String stdio =
        "'command':'"
            + python()
            + "','args':['src/test/python/server.py','stdio'],"
            + "'env':{'PYTHONDONTWRITEBYTECODE':'1'}";
    bridge =
        TestBridge.of(
            """
            {'mcpServers':{'stdio-legacy':{%s,'era':'legacy'},'stdio-modern':{%s},
            'http-legacy':{%s,'era':'legacy'},'http-modern':{%s},
            'sse-legacy':{%s,'era':'legacy'},'sse-modern':{%s}}}"""
                .formatted(stdio, stdio, http, http, sse, sse));
    for (String transport : List.of("stdio", "http", "sse")) {
      bridge.until(() -> bridge.state(transport + "-legacy").equals("ready"));
      bridge.until(() -> bridge.state(transport + "-modern").equals("ready"));
    }
  }

  @AfterAll
  static void stop() throws Exception {
    bridge.close();
    for (Process server : SERVERS) {
      server.getOutputStream().close();
      server.waitFor();
    }
  }

  private static String python() {
    return Requirements.pythonServer("python").toString();
  }

  private static int port(String transport) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(python(), "src/test/python/server.py", transport);
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    Process server = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    SERVERS.add(server);
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    return Integer.parseInt(out.readLine());
  }

  private static Answer call(String server, String tool, String arguments, String... headers)
      throws Exception {
    return bridge.post("/servers/" + server + "/tools/" + tool, arguments, headers);
  }

  @OverEachTransport
  void theServerIsListedAndCalledInItsEra(String server, String revision) throws Exception {
    JsonNode view = bridge.get("/servers/" + server).body();
    JsonNode tools = bridge.get("/servers/" + server + "/tools").body().path("tools");
    Answer sum = call(server, "add", "{\"numbers\":[1,0.5],\"word\":\"grüße 🎉\"}");

    assertEquals(revision, view.path("protocol_version").asText());
    assertEquals("python-sdk", view.at("/server_info/name").asText());
    assertEquals(4, tools.size());
    assertEquals("number", tools.get(0).at("/outputSchema/properties/total/type").asText());
    assertEquals(1.5, sum.body().at("/structuredContent/total").asDouble());
    assertEquals("grüße 🎉", sum.at("/structuredContent/words/0"));
  }

  @OverEachTransport
  void errorsArePassedOn(String server, String revision) throws Exception {
    Answer failed = call(server, "fail", "{}");

    assertTrue(failed.body().path("isError").asBoolean(), failed.text());
    assertEquals(422, call(server, "add", "{\"numbers\":\"x\",\"word\":\"\"}").status());
    assertEquals(404, call(server, "nothing", "{}").status());
  }

  @OverEachTransport
  void resourcesAndPromptsAreRead(String server, String revision) throws Exception {
    String path = "/servers/" + server;

    assertEquals("grüße", bridge.get(path + "/resources/memo%3A%2F%2Fnote").at("/contents/0/text"));
    assertEquals(
        "hello you",
        bridge.post(path + "/prompts/greet", "{\"whom\":\"you\"}").at("/messages/0/content/text"));
  }

  @OverEachTransport
  void progressIsPassedOn(String server, String revision) throws Exception {
    Answer streamed = call(server, "steps", "{}", "accept", "text/event-stream");

    assertEquals(3, streamed.text().split("event: progress", -1).length - 1, streamed.text());
    assertTrue(streamed.text().contains("finished"), streamed.text());
  }

  @OverEachTransport
  void elicitationsReachTheCallingSession(String server, String revision) throws Exception {
    McpClient client =
        new McpClient(bridge.uri("/servers/" + server + "/mcp"), FORMS)
            .withRequestHandler(request -> "{\"action\":\"accept\",\"content\":{\"count\":3}}")
            .initialized();

    assertEquals("3 it is", client.call("ask", "{}").firstText());
    assertFalse(call(server, "ask", "{}").text().contains("it is"));
  }

  @OverEachTransport
  void elicitationsReachTheCallingStatelessClient(String server, String revision) throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/" + server + "/mcp"), FORMS);
    String call = "\"name\":\"ask\",\"arguments\":{}";
    JsonNode result = client.stateless("tools/call", call).result();
    assertEquals("input_required", result.path("resultType").asText(), result.toString());
    String key = result.path("inputRequests").fieldNames().next();

    McpClient.Reply reply =
        client.stateless(
            "tools/call",
            """
            %s,"requestState":%s,"inputResponses":{"%s":{"action":"accept",\
            "content":{"count":4}}}"""
                .formatted(call, result.path("requestState"), key));

    assertEquals("4 it is", reply.firstText());
  }
}
