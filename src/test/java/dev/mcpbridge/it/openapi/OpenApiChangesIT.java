package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sources of documents, selection of operations, and changes of documents. */
@Tag("openapi")
class OpenApiChangesIT {
  @AutoClose private static final EchoApi api = EchoApi.start();
  @AutoClose private static final EchoApi elsewhere = EchoApi.start();

  private static ApiDocument document(String operations) {
    return ApiDocument.create().withGets(operations);
  }

  private static TestBridge with(String keys) throws Exception {
    return TestBridge.of("{'mcpServers':{'s':{'type':'openapi'," + keys + "}}}");
  }

  private static TestBridge ready(String keys) throws Exception {
    TestBridge bridge = with(keys);
    bridge.awaitReady("s");
    return bridge;
  }

  private static List<String> tools(TestBridge bridge) throws Exception {
    return bridge
        .get("/servers/s/tools")
        .body()
        .path("tools")
        .valueStream()
        .map(tool -> tool.path("name").asText())
        .toList();
  }

  /** Responds with 304 to requests that have this entity tag. */
  private static EchoApi.Script tagged(String tag, String text) {
    return (request, peer) ->
        tag.equals(request.header("if-none-match"))
            ? peer.write(304, null, new byte[0], "etag", tag)
            : EchoApi.respondWith(200, "application/json", text, "etag", tag).answer(request, peer);
  }

  @Test
  void changedDocumentUpdatesToolsAndNotifiesClients() throws Exception {
    api.on("/changing", tagged("\"1\"", document("one").text()));
    try (TestBridge bridge = ready("'refresh':1,'url':'" + api.url("/changing") + "'")) {
      McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
      BufferedReader events = client.listen();
      CompletableFuture<JsonNode> notification = McpClient.nextLater(events);
      bridge.until(
          () ->
              api.requests("/changing").stream()
                  .anyMatch(request -> "\"1\"".equals(request.header("if-none-match"))));
      assertFalse(notification.isDone(), "notified without a change");

      api.on("/changing", tagged("\"2\"", document("one two").text()));

      assertEquals(
          "notifications/tools/list_changed",
          notification.get(20, TimeUnit.SECONDS).path("method").asText());
      bridge.until(() -> tools(bridge).equals(List.of("one", "two")));
      assertTrue(bridge.call("two", "{}").firstText().contains("GET /two "));

      api.on("/changing", 200, "text/html", "<html>maintenance</html>");
      int requests = api.requests("/changing").size();
      bridge.until(() -> api.requests("/changing").size() > requests + 1);
      assertEquals(List.of("one", "two"), tools(bridge));
      assertTrue(bridge.call("two", "{}").firstText().contains("GET /two "));
      assertEquals("ready", bridge.state("s"));

      api.on("/changing", tagged("\"3\"", document("three").text()));
      bridge.until(() -> tools(bridge).equals(List.of("three")));
      assertEquals(404, bridge.call("one", "{}").status());
    }
  }

  @Test
  void toolsStayIfTheDocumentBecomesUnavailable() throws Exception {
    api.on("/vanishing", document("one").asScript());
    try (TestBridge bridge = ready("'refresh':1,'url':'" + api.url("/vanishing") + "'")) {
      api.on("/vanishing", 503, "text/plain", "later");
      int requests = api.requests("/vanishing").size();
      bridge.until(() -> api.requests("/vanishing").size() > requests + 1);

      assertEquals(List.of("one"), tools(bridge));
      assertEquals("ready", bridge.state("s"));
    }
  }

  @Test
  void hangingDocumentIsRequestedOnce() throws Exception {
    api.on("/hanging", document("one").asScript()).on("/other", document("one").asScript());
    try (TestBridge bridge =
        TestBridge.of(
                "{'mcpServers':{'s':{'type':'openapi','refresh':1,'url':'"
                    + api.url("/hanging")
                    + "'},'t':{'type':'openapi','refresh':1,'url':'"
                    + api.url("/other")
                    + "'}}}")
            .awaitReady("s", "t")) {
      api.on("/hanging", EchoApi.neverRespond());
      int requests = api.requests("/hanging").size();
      int otherRequests = api.requests("/other").size();

      bridge.until(() -> api.requests("/other").size() > otherRequests + 3);

      assertEquals(requests + 1, api.requests("/hanging").size());
      assertTrue(bridge.call("one", "{}").firstText().contains("GET /one "));
    }
  }

  @Test
  void changedFileUpdatesTools(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("api.json"), document("one").text());
    try (TestBridge bridge =
        ready("'refresh':1,'server':'" + api.url("") + "','file':'" + file + "'")) {
      assertEquals(List.of("one"), tools(bridge));

      Files.writeString(file, document("one more").text());

      bridge.until(() -> tools(bridge).equals(List.of("one", "more")));
    }
  }

  @Test
  void inlineDocumentSurvivesARestart() throws Exception {
    String text = document("one").set("servers", "[{'url':'" + api.url("/v2") + "'}]").text();
    try (TestBridge bridge = ready("'document':" + text)) {
      assertTrue(bridge.call("one", "{}").firstText().contains("GET /v2/one "));

      assertEquals(200, bridge.post("/servers/s/restart", "").status());

      bridge.awaitReady("s");
      assertTrue(bridge.call("one", "{}").firstText().contains("GET /v2/one "));
    }
  }

  @Test
  void serverOnAnotherOriginMustBeConfirmed() throws Exception {
    api.on(
        "/tricky",
        document("one").set("servers", "[{'url':'" + elsewhere.url("/v1") + "'}]").asScript());
    String keys = "'auth':{'type':'bearer','token':'x'},'url':'" + api.url("/tricky") + "'";
    try (TestBridge bridge = with(keys)) {
      bridge.until(() -> !bridge.get("/servers/s").body().path("last_error").isNull());

      Answer shown = bridge.get("/servers/s");

      assertTrue(shown.at("/last_error").contains("confirm it with 'server'"), shown.text());
      assertFalse(bridge.state("s").equals("ready"));
      assertEquals(List.of(), elsewhere.requests());
    }
    try (TestBridge bridge = ready(keys + ",'server':'" + elsewhere.url("/v2") + "'")) {
      assertEquals(200, bridge.call("one", "{}").status());
      assertEquals("GET /v2/one HTTP/1.1", elsewhere.lastRequest().line());
    }
  }

  @ParameterizedTest
  @CsvSource({"/v1,GET /v1/one", "/,GET /one", "v1/,GET /docs/v1/one", "./v1,GET /docs/v1/one"})
  void relativeServerIsResolvedAgainstTheDocument(String server, String line) throws Exception {
    api.on(
        "/docs/relative", document("one").set("servers", "[{'url':'" + server + "'}]").asScript());
    try (TestBridge bridge = ready("'url':'" + api.url("/docs/relative") + "'")) {
      assertTrue(bridge.call("one", "{}").firstText().contains(line + " "));
    }
  }

  @Test
  void hostWithoutSchemeUsesThatOfTheDocument() throws Exception {
    api.on(
        "/old",
        200,
        "application/json",
        TestBridge.json(
            "{'swagger':'2.0','host':'127.0.0.1:"
                + api.port()
                + "','basePath':'/v1','paths':{'/one':{'get':{'operationId':'one'}}}}"));
    try (TestBridge bridge = ready("'url':'" + api.url("/old") + "'")) {
      assertTrue(bridge.call("one", "{}").firstText().contains("GET /v1/one "));
    }
  }

  @Test
  void invalidDocumentIsReportedInTheState() throws Exception {
    api.on("/login", 200, "text/html", "<html>Log in</html>");
    try (TestBridge bridge = with("'maxRestartDelay':0.2,'url':'" + api.url("/login") + "'")) {
      bridge.until(() -> !bridge.get("/servers/s").body().path("last_error").isNull());

      String error = bridge.get("/servers/s").at("/last_error");

      assertTrue(error.contains("The OpenAPI document cannot be used"), error);
      assertEquals(503, bridge.call("one", "{}").status());
      api.on("/login", document("one").asScript());
      bridge.awaitReady("s");
    }
  }

  @Test
  void documentOverTheLimitIsReportedAndItsServerStaysUnavailable(@TempDir Path folder)
      throws Exception {
    int size = 33 << 20;
    Path file = folder.resolve("huge.json");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(size);
    }
    api.on("/huge", 200, "application/json", " ".repeat(size));
    String url = api.url("");
    for (String source : List.of("'url':'" + url + "/huge'", "'file':'" + file + "'")) {
      try (TestBridge bridge = with("'server':'" + url + "'," + source)) {
        bridge.until(() -> bridge.get("/servers/s").body().path("last_error").isTextual());

        String error = bridge.get("/servers/s").at("/last_error");

        assertTrue(error.contains("33554432 bytes"), error);
        assertEquals(503, bridge.call("one", "{}").status());
        assertEquals(200, bridge.get("/health/live").status());
      }
    }
  }

  @Test
  void remoteReferencesAreNotFetched() throws Exception {
    String remote = elsewhere.url("/schema.json");
    int before = elsewhere.requests().size();
    api.on(
        "/remote",
        ApiDocument.create()
            .withPost(
                "/one",
                "one",
                "application/json",
                """
                {'$ref':'%s','$schema':'%s','properties':{'a':{'$ref':'%s#/A'},
                'b':{'$id':'%s','type':'string'}}}"""
                    .formatted(remote, remote, remote, remote),
                "")
            .with("get", "/two", "two", "'parameters':[{'$ref':'" + remote + "'}]")
            .asScript());
    try (TestBridge bridge = ready("'url':'" + api.url("/remote") + "'")) {
      assertEquals(200, bridge.call("one", "{\"body\":{\"a\":1,\"b\":\"x\"}}").status());
      assertEquals(200, bridge.call("two", "{}").status());
      assertEquals(List.of("one", "two"), tools(bridge));
    }
    assertEquals(before, elsewhere.requests().size());
  }

  private static ApiDocument varied() {
    return ApiDocument.create()
        .with("get", "/pets", "listPets", "'tags':['pets','public'],'description':'Lists.'")
        .with("post", "/pets", "addPet", "'tags':['pets']")
        .with(
            "delete",
            "/pets/{id}",
            "removePet",
            "'tags':['admin'],'parameters':[" + ApiDocument.parameter("id", "path", "") + "]")
        .with("get", "/shops", "listShops", "");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'include':{'tags':['public']} | listPets",
        "'include':{'paths':['/shops']} | listShops",
        "'include':{'paths':['/pets*']} | addPet listPets removePet",
        "'include':{'methods':['get']} | listPets listShops",
        "'include':{'methods':['DELETE']} | removePet",
        "'include':{'operations':['list*']} | listPets listShops",
        "'include':{'tags':['admin'],'operations':['listShops']} | listShops removePet",
        "'exclude':{'tags':['pets']} | listShops removePet",
        "'exclude':{'methods':['post','delete']} | listPets listShops",
        "'exclude':{'operations':['*Pet']} | listPets listShops",
        "'include':{'tags':['pets']},'exclude':{'methods':['post']} | listPets",
        "'include':{'tags':['missing']} | ''"
      })
  void operationsCanBeSelected(String keys, String offered) throws Exception {
    api.on("/varied", varied().asScript());
    try (TestBridge bridge = ready(keys + ",'url':'" + api.url("/varied") + "'")) {
      assertEquals(offered, tools(bridge).stream().sorted().collect(Collectors.joining(" ")));
    }
  }

  @Test
  void namesAndDescriptionsCanBeReplaced() throws Exception {
    api.on("/varied", varied().asScript());
    try (TestBridge bridge =
        ready(
            "'tools':{'listPets':{'name':'pets','description':'All of them.','timeout':5},"
                + "'addPet':{'description':'One more.'},'listShops':{'name':'addPet'}},'url':'"
                + api.url("/varied")
                + "'")) {
      assertEquals(List.of("pets", "addPet", "removePet"), tools(bridge));
      String listed = bridge.get("/servers/s/tools").text();
      assertTrue(listed.contains("All of them."), listed);
      assertTrue(listed.contains("One more."), listed);
      assertFalse(listed.contains("Lists."), listed);
      assertTrue(bridge.call("pets", "{}").firstText().contains("GET /pets "));
      assertTrue(bridge.call("addPet", "{}").firstText().contains("POST /pets "));
      assertEquals(404, bridge.call("listPets", "{}").status());
    }
  }

  @Test
  void omittedOperationsAreReported() throws Exception {
    String own = "'servers':[{'url':'https://elsewhere.example'}]";
    ApiDocument document =
        document("kept").with("get", "/one", "one", own).with("post", "/two", "two", own);
    api.on("/omitting.json", document.asScript());
    try (TestBridge bridge = ready("'url':'" + api.url("/omitting.json") + "'")) {
      JsonNode omitted = bridge.get("/servers/s").body().path("omitted");

      assertEquals(2, omitted.path("count").asInt(), omitted.toString());
      assertEquals(
          List.of("GET /one", "POST /two"),
          omitted.path("operations").findValuesAsText("operation"));
      String reason = omitted.at("/operations/1/reason").asText();
      assertTrue(reason.contains("https://elsewhere.example"), reason);
      assertFalse(bridge.get("/servers").text().contains("omitted"));
    }
  }

  @Test
  void parsingDoesNotCountTowardsTheStartTimeout(@TempDir Path folder) throws Exception {
    StringBuilder yaml =
        new StringBuilder("openapi: 3.1.0\ninfo: {title: Large, version: '1'}\npaths:\n");
    for (int i = 0; i < 2_000; i++) {
      yaml.append("  /p")
          .append(i)
          .append(":\n    get:\n      operationId: op")
          .append(i)
          .append("\n      parameters:\n");
      for (int j = 0; j < 8; j++) {
        yaml.append("        - {name: a")
            .append(j)
            .append(", in: query, schema: {type: string}}\n");
      }
    }
    Path file = Files.writeString(folder.resolve("large.yaml"), yaml);
    String entry =
        "'%s':{'type':'openapi','startTimeout':0.3,'server':'"
            + api.url("/")
            + "','include':{'operations':['op7']},'file':'"
            + file
            + "'}";
    List<String> servers = List.of("a", "b", "c", "d", "e");
    String entries = servers.stream().map(entry::formatted).collect(Collectors.joining(","));
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{" + entries + "}}")) {
      for (String server : servers) {
        bridge.until(() -> bridge.state(server).equals("ready"));
        assertEquals(0, bridge.get("/servers/" + server).body().path("restarts").asInt());
      }
    }
  }
}
