package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All doors of a node, with servers that run on other nodes. */
@Tag("cluster")
@Tag("threads")
class ClusterIT {
  private static final String ELICITATION = "{\"method\":\"elicitation/create\"}";

  /** Runs on node 2 and is called through node 1. */
  private static final String REMOTE = "two";

  private static final List<String> SERVERS = List.of("one", "two", "three");

  @TempDir static Path folder;
  @AutoClose private static Nodes nodes;

  @BeforeAll
  static void start() throws Exception {
    nodes =
        Nodes.patient(folder, 3, Nodes.placed(folder, SERVERS, "'tools':{'sleep':{'timeout':2}}"));
    nodes.awaitReady(SERVERS);
  }

  @AfterEach
  void allAnswer() throws Exception {
    nodes.assertAllAnswer(SERVERS);
  }

  @Test
  void allNodesShowTheSameOwners() throws Exception {
    for (int node = 1; node <= 3; node++) {
      JsonNode shown = nodes.get(node, "/servers").body();
      for (int i = 0; i < 3; i++) {
        String server = SERVERS.get(i);
        JsonNode one = nodes.get(node, "/servers/" + server).body();
        assertEquals("n" + (i + 1), one.path("node").asText(), one.toString());
        assertTrue(one.path("epoch").asLong() > 0, one.toString());
        JsonNode first = nodes.get(1, "/servers/" + server).body();
        assertEquals(first.path("epoch"), one.path("epoch"));
        assertEquals(1, one.path("pids").size(), one.toString());
        assertEquals(first.path("pids"), one.path("pids"));
        assertTrue(shown.findValuesAsText("id").contains(server), shown.toString());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void argumentsAndResultsPassUnchangedAtEveryNode(int node) throws Exception {
    String arguments =
        "{\"big\":9007199254740993,\"d\":1.10,\"e\":1e2,\"z\":-0,\"s\":\"\\u00e9\\/\",\"a\":null}";

    for (String server : SERVERS) {
      Answer answer = nodes.call(node, server, "echo", arguments);

      assertEquals("{\"content\":[],\"structuredContent\":" + arguments + "}", answer.text());
    }
  }

  @Test
  void resourcesPromptsAndListsOfARemoteServer() throws Exception {
    String at = "/servers/" + REMOTE;
    Answer resource = nodes.get(1, at + "/resources/test%3A%2F%2Fa%20b%2525");
    assertEquals("content of test://a b%25", resource.at("/contents/0/text"));
    assertEquals(1, nodes.get(1, at + "/resources").body().path("resources").size());
    assertEquals(
        0, nodes.get(1, at + "/resource-templates").body().path("resourceTemplates").size());
    assertEquals(1, nodes.get(1, at + "/prompts").body().path("prompts").size());
    assertTrue(nodes.post(1, at + "/prompts/greet", "{}").body().has("messages"));
    for (String list : List.of("/tools", "/resources", "/prompts")) {
      assertEquals(nodes.get(2, at + list).text(), nodes.get(1, at + list).text());
    }
    assertTrue(nodes.get(1, at + "/tools").text().contains("\"x-unknown\":1.10"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/servers/two/openapi.json", "/tools/openapi.json", "/tools"})
  void documentsAreTheSameAtAllNodes(String path) throws Exception {
    JsonNode local = nodes.get(1, path).body();
    JsonNode remote = nodes.get(2, path).body();

    assertTrue(local.toString().contains("progress"), local.toString());
    assertEquals(withoutServers(remote), withoutServers(local));
  }

  /** Removes the URL of the node, which differs. */
  private static JsonNode withoutServers(JsonNode document) {
    ((com.fasterxml.jackson.databind.node.ObjectNode) document).remove("servers");
    return document;
  }

  @Test
  void batchWithServersOfAllNodesIsAnsweredInOrder() throws Exception {
    Answer batch =
        nodes.post(
            1,
            "/batch",
            "{\"calls\":[{\"server\":\"two\",\"tool\":\"sleep\",\"arguments\":{\"ms\":50}},"
                + "{\"server\":\"three\",\"tool\":\"nope\"},{\"server\":\"none\",\"tool\":\"x\"},"
                + "{\"server\":\"three\",\"tool\":\"echo\",\"arguments\":{\"n\":1.10}},"
                + "{\"server\":\"one\",\"tool\":\"echo\"}]}");

    List<Integer> statuses = new ArrayList<>();
    batch.body().path("results").forEach(r -> statuses.add(r.path("status").asInt()));
    assertEquals(List.of(200, 404, 404, 200, 200), statuses, batch.toString());
    assertTrue(batch.text().contains("{\"n\":1.10}"));
  }

  @Test
  void modelTurnCallsServersOfAllNodes() throws Exception {
    List<String> calls = new ArrayList<>();
    for (String server : SERVERS) {
      calls.add(
          "{\"id\":\"c_%s\",\"type\":\"function\",\"function\":{\"name\":\"%s__echo\","
                  .formatted(server, server)
              + "\"arguments\":\"{\\\"n\\\":1.10}\"}}");
    }

    Answer turn =
        nodes.post(
            1,
            "/toolcall",
            "{\"role\":\"assistant\",\"tool_calls\":[" + String.join(",", calls) + "]}");

    JsonNode answers = turn.body().path("tool_responses");
    for (int i = 0; i < 3; i++) {
      assertEquals("c_" + SERVERS.get(i), answers.get(i).path("tool_call_id").asText());
      assertEquals("completed", answers.get(i).path("outcome").asText(), turn.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "true,/mcp,two__",
    "true,/servers/two/mcp,''",
    "false,/mcp,two__",
    "false,/servers/two/mcp,''"
  })
  void bothErasOfMcpReachARemoteServer(boolean stateless, String path, String prefix)
      throws Exception {
    EraClient eraClient =
        EraClient.to(nodes.uri(1, path), stateless, prefix, "{\"elicitation\":{}}");
    String arguments = "{\"n\":12345678901234567890,\"d\":1.10,\"ü\":null}";

    assertTrue(eraClient.call("echo", arguments).text().contains(arguments));
    assertTrue(eraClient.request("tools/list", "").text().contains("\"x-unknown\":1.10"));
    McpClient.Reply progress =
        eraClient.call("progress", "{\"steps\":3}", "\"progressToken\":\"t\"");
    assertEquals(3, progress.notifications("notifications/progress").size(), progress.text());
    assertEquals("finished", progress.firstText());
    McpClient.Reply broken = eraClient.call("fail", "{}");
    assertEquals(-32000, broken.errorCode(), broken.text());
  }

  @ParameterizedTest
  @CsvSource({
    "true,elicitation/create", "true,sampling/createMessage", "true,roots/list",
    "false,elicitation/create", "false,sampling/createMessage", "false,roots/list"
  })
  void remoteToolAsksItsClient(boolean stateless, String method) throws Exception {
    EraClient eraClient =
        EraClient.to(
                nodes.uri(1, "/servers/two/mcp"),
                stateless,
                "",
                "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}")
            .withRequestHandler(question -> "{\"action\":\"accept\",\"roots\":[],\"n\":1.10}");
    String params = "{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\"},\"x\":1.10}";

    McpClient.Reply reply =
        eraClient.call("ask", "{\"method\":\"" + method + "\",\"params\":" + params + "}");

    assertTrue(reply.firstText().startsWith("result {"), reply.text());
    assertTrue(reply.firstText().contains("1.10"), reply.text());
    assertEquals(1, eraClient.serverRequests().size());
    assertTrue(
        eraClient.serverRequests().get(0).contains("\"x\":1.10"),
        eraClient.serverRequests().toString());
  }

  @Test
  void requestToClientWithoutCapabilityIsRejected() throws Exception {
    Answer refused = nodes.call(1, REMOTE, "ask", ELICITATION);

    assertTrue(refused.firstText().startsWith("error "), refused.toString());
  }

  @Test
  void largeRemoteMessageKeepsItsOrder() throws Exception {
    for (int i = 0; i < 5; i++) {
      Answer log = nodes.call(1, REMOTE, "log", "{\"size\":600000}", "accept", "text/event-stream");

      assertEquals(
          List.of("message", "message", "result"),
          log.events(),
          log.text().length() + log.text().substring(0, 200));
      assertTrue(log.text().indexOf("last") > 600_000);
    }
  }

  @Test
  void remoteProgressAndLogsAreStreamedBeforeTheResult() throws Exception {
    Answer progress =
        nodes.call(1, REMOTE, "progress", "{\"steps\":3}", "accept", "text/event-stream");

    assertEquals(List.of("progress", "progress", "progress", "result"), progress.events());
    Answer log = nodes.call(1, REMOTE, "log", "{}", "accept", "text/event-stream");
    assertEquals(List.of("message", "result"), log.events());
    Answer failed = nodes.call(1, REMOTE, "fail", "{}", "accept", "text/event-stream");
    assertEquals(List.of("error"), failed.events());
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json", "text/event-stream"})
  void disconnectCancelsTheRemoteCall(String accept) throws Exception {
    int before = cancels();
    URI at = nodes.uri(1, "/servers/two/tools/never");
    try (Socket socket = new Socket(at.getHost(), at.getPort())) {
      socket
          .getOutputStream()
          .write(
              ("POST "
                      + at.getPath()
                      + " HTTP/1.1\r\nHost: localhost\r\nAccept: "
                      + accept
                      + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                  .getBytes(StandardCharsets.US_ASCII));
      nodes.until(() -> nodes.get(1, "/servers/two").body().path("pending_calls").asInt() > 0);
    }
    nodes.until(() -> cancels() == before + 1);
  }

  @Test
  void remoteBackgroundCallIsPolledAndCancelled() throws Exception {
    String slept =
        nodes
            .call(1, REMOTE, "sleep", "{\"ms\":300}", "prefer", "respond-async")
            .header("location");
    nodes.until(() -> nodes.get(1, slept).at("/status").equals("done"));
    int before = cancels();
    String hanging =
        nodes.call(1, REMOTE, "never", "{}", "prefer", "respond-async").header("location");
    nodes.until(() -> nodes.get(1, "/servers/two").body().path("pending_calls").asInt() > 0);

    assertEquals("cancelled", nodes.delete(1, hanging).at("/problem/code"));

    nodes.until(() -> cancels() == before + 1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void mcpClientCancelsItsRemoteCall(boolean stateless) throws Exception {
    int before = cancels();
    EraClient eraClient = EraClient.to(nodes.uri(1, "/servers/two/mcp"), stateless, "", "{}");

    McpClient.Cancellation call = eraClient.begin("never");
    nodes.until(() -> nodes.get(1, "/servers/two").body().path("pending_calls").asInt() > 0);
    call.cancel();

    nodes.until(() -> cancels() == before + 1);
  }

  private static int cancels() throws Exception {
    return Integer.parseInt(nodes.call(2, REMOTE, "cancels", "{}").firstText());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sleep | {'ms':'soon'} | 422",
        "fail | {} | 502",
        "nope | {} | 404",
        "tool_error | {} | 200",
        "bad_result | {'result':[1]} | 502",
        "sleep | {'ms':60000} | 504"
      },
      quoteCharacter = '"')
  void remoteFailuresEqualThoseOfTheOwner(String tool, String arguments, int status)
      throws Exception {
    String body = TestBridge.json(arguments);

    CompletableFuture<Answer> throughOther = nodes.callLater(1, REMOTE, tool, body);
    Answer atOwner = nodes.call(2, REMOTE, tool, body);
    Answer remote = throughOther.get(60, TimeUnit.SECONDS);

    assertEquals(status, atOwner.status(), atOwner.toString());
    assertEquals(status, remote.status(), remote + " " + atOwner);
    for (String member : List.of("code", "executed", "retryable", "errors", "error", "upstream")) {
      assertEquals(atOwner.body().get(member), remote.body().get(member), remote + " " + atOwner);
    }
  }

  @Test
  void largeCallsDoNotBlockSmallOnes() throws Exception {
    String filler = "{\"s\":\"" + "ü".repeat(3 << 19) + "\",\"n\":1.10}";
    List<CompletableFuture<Answer>> large = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      large.add(nodes.callLater(1, REMOTE, "big", "{\"size\":" + (10 << 20) + "}"));
      large.add(nodes.callLater(1, REMOTE, "echo", filler));
    }
    int small = 0;
    while (!large.stream().allMatch(CompletableFuture::isDone)) {
      assertEquals(200, nodes.call(1, "three", "echo", "{}").status());
      assertTrue(nodes.call(1, REMOTE, "echo", "{\"n\":1.10}").text().contains("{\"n\":1.10}"));
      small++;
    }

    assertNotEquals(0, small);
    for (int i = 0; i < large.size(); i += 2) {
      assertEquals(
          10 << 20, large.get(i).join().firstText().length(), large.get(i).join().toString());
      assertTrue(large.get(i + 1).join().text().contains(filler), "not the arguments");
    }
  }

  @Test
  void responsesOfParallelCallersAreNotMixedUp() {
    List<CompletableFuture<Void>> checks = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      String unique = "{\"u\":" + i + "}";
      checks.add(
          nodes
              .callLater(1 + i % 3, SERVERS.get(i / 3 % 3), "echo", unique)
              .thenAccept(answer -> assertTrue(answer.text().contains(unique), answer.text())));
    }
    CompletableFuture.allOf(checks.toArray(CompletableFuture[]::new)).join();
  }

  @Test
  void catalogueChangesReachOtherNodes() throws Exception {
    String etag = nodes.get(1, "/servers/two/tools").header("etag");
    assertEquals(304, nodes.get(1, "/servers/two/tools", "if-none-match", etag).status());
    EraClient modern = EraClient.to(nodes.uri(1, "/servers/two/mcp"), true, "", "{}");
    EraClient session = EraClient.to(nodes.uri(3, "/mcp"), false, "two__", "{}");
    try (EraClient.NotificationStream one = modern.listen(null);
        EraClient.NotificationStream two = session.listen(null)) {
      CompletableFuture<String> first = one.nextLater("notifications/tools/list_changed");
      CompletableFuture<String> second = two.nextLater("notifications/tools/list_changed");

      nodes.call(2, REMOTE, "grow", "{}");

      first.get(30, TimeUnit.SECONDS);
      second.get(30, TimeUnit.SECONDS);
    }
    nodes.until(() -> nodes.get(1, "/servers/two/tools", "if-none-match", etag).status() == 200);
    assertEquals(
        nodes.get(2, "/servers/two/tools").header("etag"),
        nodes.get(1, "/servers/two/tools").header("etag"));
  }

  @Test
  void restartThroughAnotherNodeReplacesTheProcess() throws Exception {
    JsonNode before = nodes.get(1, "/servers/three").body();

    Answer restarted = nodes.post(1, "/servers/three/restart", "");

    assertEquals(200, restarted.status(), restarted.toString());
    assertNotEquals(before.path("pids"), restarted.body().path("pids"), restarted.toString());
    assertEquals("n3", restarted.at("/node"));
    nodes.until(
        () ->
            nodes
                .get(2, "/servers/three")
                .body()
                .path("pids")
                .equals(restarted.body().path("pids")));
    TestBridge.Answer echo = nodes.call(2, "three", "echo", "{}");
    assertEquals(200, echo.status(), echo.toString());
  }
}
