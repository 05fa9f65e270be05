package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.NotificationStream;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Profiles at every door: what they offer, what they change, and that nothing goes around them. */
@Tag("access")
class ProfilesIT {
  private static final String BOSS = ApiKeys.generate();
  private static final String BOT = ApiKeys.generate();

  private static final String TOOLS =
      "[{'name':'search','description':'Searches.','inputSchema':{'type':'object','properties':"
          + "{'owner':{'type':'string'},'limit':{'type':'integer'},'text':{'type':'string'}},"
          + "'required':['owner','text']}},{'name':'push'},{'name':'log'},{'name':'wipe'}]";

  private static final String DESK =
      "'desk':{'instructions':'For the desk.','servers':{'git':{'tools':['search','log','wipe'],"
          + "'overrides':{'search':{'name':'find','description':'Finds issues.','parameters':{"
          + "'owner':{'value':'acme'},'limit':{'default':5}}}}},"
          + "'s':{'prompts':['nothing*'],'resources':['test://a*']}}}";

  @TempDir Path folder;
  @AutoClose private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    bridge = TestBridge.of(config(DESK, ""));
    for (String server : List.of("git", "s")) {
      bridge.until(() -> get("/servers/" + server).at("/state").equals("ready"));
    }
  }

  private String config(String profiles, String settings) throws Exception {
    return "{"
        + TestBridge.auth(
            TestBridge.key("boss", BOSS, "'read','call','approve','admin'"),
            TestBridge.key("bot", BOT, "'read','call'"))
        + settings
        + ",'profiles':{"
        + profiles
        + "},'mcpServers':{'git':"
        + CatalogueServer.entry(
            folder.resolve("tools.json"),
            TOOLS.replace('\'', '"'),
            "'risk':{'tools':{'log':2,'wipe':'block'}}")
        + ",'s':"
        + TestBridge.entry("")
        + "}}";
  }

  private Answer get(String path) throws Exception {
    return bridge.get(path, "x-api-key", BOSS);
  }

  private Answer post(String path, String body) throws Exception {
    return bridge.post(path, body.replace('\'', '"'), "x-api-key", BOT);
  }

  private EraClient client(boolean isStateless) throws Exception {
    return EraClient.to(bridge.uri("/profiles/desk/mcp"), isStateless, "", "{}", "x-api-key", BOT);
  }

  private static List<String> names(JsonNode entries, String pointer) {
    return entries.valueStream().map(entry -> entry.at(pointer).asText()).toList();
  }

  @Test
  void theListOfToolsIsThatOfTheProfile() throws Exception {
    JsonNode tools = get("/profiles/desk/tools").body().path("tools");

    assertEquals(List.of("find", "git__log"), names(tools, "/name"));
    assertEquals(List.of("1", "2"), names(tools, "/risk_level"));
    assertEquals(List.of("git", "git"), names(tools, "/server_id"));
    assertEquals("Finds issues.", tools.at("/0/description").asText());
    assertEquals("[\"text\"]", tools.at("/0/inputSchema/required").toString());
    assertEquals(
        "{\"limit\":{\"type\":\"integer\",\"default\":5},\"text\":{\"type\":\"string\"}}",
        tools.at("/0/inputSchema/properties").toString());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anMcpClientSeesAndCallsWhatTheProfileOffers(boolean isStateless) throws Exception {
    EraClient client = client(isStateless);

    JsonNode tools = client.request("tools/list", "").result().path("tools");
    Reply found = client.call("find", "{\"text\":\"bug\"}");

    assertEquals("For the desk.", client.initializeResult().path("instructions").asText());
    assertEquals(List.of("find", "git__log"), names(tools, "/name"));
    assertEquals(
        "{\"tool\":\"search\",\"arguments\":{\"text\":\"bug\",\"owner\":\"acme\",\"limit\":5}}",
        found.result().path("structuredContent").toString());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anMcpClientCannotReachWhatTheProfileHides(boolean isStateless) throws Exception {
    EraClient client = client(isStateless);

    for (String hidden : List.of("git__push", "push", "search", "git__search", "git__wipe")) {
      assertEquals(-32602, client.call(hidden, "{\"text\":\"x\"}").errorCode(), hidden);
    }
    Reply owner = client.call("find", "{\"text\":\"x\",\"owner\":\"evil\"}");
    assertTrue(owner.result().path("isError").asBoolean(), owner.text());
    assertTrue(owner.firstText().contains("'owner' is not a parameter"), owner.text());
    assertEquals(-32602, client.request("prompts/get", "\"name\":\"s__greet\"").errorCode());
    for (String like : List.of("\"Name\":\"push\"", "\"ARGUMENTS\":{\"owner\":\"evil\"}")) {
      Reply alike = client.request("tools/call", client.callParams("git__log", "{}") + "," + like);
      assertEquals(-32602, alike.errorCode(), alike.text());
    }
    assertEquals(-32602, client.request("resources/read", "\"uri\":\"test://b\"").errorCode());
    assertEquals(
        -32602,
        client.request("resources/read", "\"uri\":\"mcp-bridge://s/test://b\"").errorCode());
    Reply read = client.request("resources/read", "\"uri\":\"test://a b%25\"");
    assertTrue(read.result().path("contents").isArray(), read.text());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "find; {'text':'x'}; 200",
        "find; {'text':'x','limit':7}; 200",
        "find; {'limit':7}; 422",
        "find; {'text':'x','owner':'acme'}; 422",
        "search; {'text':'x'}; 404",
        "git__push; {}; 404",
        "push; {}; 404",
        "git__wipe; {}; 404",
        "git__log; {}; 200"
      })
  void restCallsAreThoseOfTheProfile(String tool, String arguments, int status) throws Exception {
    Answer answer = post("/profiles/desk/tools/" + tool, arguments);

    assertEquals(status, answer.status(), answer.text());
  }

  @Test
  void aConfirmationShowsTheToolAndTheArgumentsThatAreSent() throws Exception {
    bridge.reload(
        config(
            "'desk':{'servers':{'git':{'overrides':{'log':{'name':'history','parameters':"
                + "{'since':{'value':'2020'}}}}}}}",
            ""));

    Answer pending = post("/profiles/desk/tools/history", "{'n':1}");
    Answer confirmation = get("/confirmations/" + pending.at("/confirmation_id"));
    Answer done =
        post(
            "/confirmations/" + pending.at("/confirmation_id"),
            "{'confirm':true,'token':'" + pending.at("/token") + "'}");

    assertEquals("log", confirmation.at("/tool_name"), confirmation.text());
    assertTrue(confirmation.text().contains("{\"n\":1,\"since\":\"2020\"}"), confirmation.text());
    assertEquals("2020", done.at("/structuredContent/arguments/since"), done.text());
  }

  @Test
  void resourcesAndPromptsAreThoseOfTheProfile() throws Exception {
    assertEquals(
        List.of("test://a b%25"),
        names(get("/profiles/desk/resources").body().path("resources"), "/uri"));
    assertEquals(
        200,
        bridge.get("/profiles/desk/resources/test%3A%2F%2Fa%20b%2525", "x-api-key", BOT).status());
    assertEquals(
        404, bridge.get("/profiles/desk/resources/test%3A%2F%2Fb", "x-api-key", BOT).status());
    assertEquals("[]", get("/profiles/desk/prompts").body().path("prompts").toString());
    assertEquals(404, post("/profiles/desk/prompts/s__greet", "{}").status());
  }

  @Test
  void aModelGetsAndCallsTheFunctionsOfTheProfile() throws Exception {
    JsonNode functions = get("/profiles/desk/toolcall/tools").body().path("tools");
    Answer done =
        post(
            "/profiles/desk/toolcall",
            "[{'id':'1','type':'function','function':{'name':'find','arguments':"
                + "'{\\u0022text\\u0022:\\u0022x\\u0022,\\u0022limit\\u0022:\\u00227\\u0022}'}},"
                + "{'id':'2','type':'function','function':{'name':'git__push','arguments':'{}'}},"
                + "{'id':'3','type':'function','function':{'name':'search','arguments':'{}'}},"
                + "{'id':'4','type':'function','function':{'name':'find','arguments':"
                + "'{\\u0022owner\\u0022:\\u0022x\\u0022}'}}]");

    assertEquals(List.of("find", "git__log"), names(functions, "/function/name"));
    List<String> contents = names(done.body().path("messages"), "/content");
    assertTrue(contents.get(0).contains("\"limit\":7,\"owner\":\"acme\""), done.text());
    assertTrue(contents.get(1).contains("not found"), done.text());
    assertTrue(contents.get(2).contains("not found"), done.text());
    assertTrue(contents.get(3).contains("'owner' is not a parameter"), done.text());
  }

  @Test
  void leanDiscoveryFindsWhatTheProfileOffers() throws Exception {
    EraClient client =
        EraClient.to(
            bridge.uri("/profiles/desk/mcp?discovery=search"), true, "", "{}", "x-api-key", BOT);

    Reply found = client.call("search_tools", "{\"query\":\"issues push\"}");
    Reply called = client.call("call_tool", "{\"name\":\"find\",\"arguments\":{\"text\":\"x\"}}");
    Reply hidden = client.call("call_tool", "{\"name\":\"git__push\"}");

    assertEquals("find", found.result().at("/structuredContent/tools/0/name").asText());
    assertFalse(found.text().contains("git__push"), found.text());
    assertEquals("acme", called.result().at("/structuredContent/arguments/owner").asText());
    assertTrue(hidden.result().path("isError").asBoolean(), hidden.text());
  }

  @Test
  void theDocumentOfTheProfileLeadsToItsTools() throws Exception {
    Answer document = get("/profiles/desk/openapi.json");

    assertEquals("Tools of the profile desk", document.at("/info/title"));
    List<String> paths =
        document.body().path("paths").properties().stream().map(Map.Entry::getKey).toList();
    assertEquals(List.of("/profiles/desk/tools/find", "/profiles/desk/tools/git__log"), paths);
  }

  @Test
  void accessRulesCountForTheNamesOfTheServers() throws Exception {
    bridge.reload(
        config(
            DESK,
            ",'access':{'rules':[{'name':'logs','allow':['call'],'who':{'keys':['bot']},"
                + "'servers':['git'],'tools':['log']},"
                + "{'name':'boss','allow':['call','read','get'],'who':{'keys':['boss']}}]}"));

    JsonNode tools = bridge.get("/profiles/desk/tools", "x-api-key", BOT).body().path("tools");
    assertEquals(List.of("git__log"), names(tools, "/name"));
    assertEquals(403, post("/profiles/desk/tools/find", "{'text':'x'}").status());
    assertEquals(403, client(true).call("find", "{\"text\":\"x\"}").errorCode());
    assertEquals(
        List.of("find", "git__log"),
        names(get("/profiles/desk/tools").body().path("tools"), "/name"));
  }

  @Test
  void profilesAreListedWithWhatHasNoEffect() throws Exception {
    bridge.reload(
        config(
            DESK + ",'odd':{'servers':{'git':{'overrides':{'gone':{'name':'g'}}},'no':{}}}", ""));

    JsonNode profiles = get("/profiles").body().path("profiles");
    assertEquals(List.of("desk", "odd"), names(profiles, "/name"));
    assertEquals(List.of("2", "3"), names(profiles, "/tools"));
    assertEquals(
        "[\"git, gone: the server has no such tool\"]", profiles.at("/1/problems").toString());
    assertEquals("[\"git\"]", get("/profiles/odd").body().path("servers").toString());
    assertFalse(bridge.get("/profiles/odd", "x-api-key", BOT).body().has("problems"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/profiles/none",
        "/profiles/none/tools",
        "/profiles/none/openapi.json",
        "/profiles/none/mcp",
        "/profiles/none/sse"
      })
  void anUnknownProfileIsNotFound(String path) throws Exception {
    Answer answer = get(path);

    assertEquals(404, answer.status());
    assertEquals("profile_not_found", answer.code());
  }

  @Test
  void aSessionLearnsOfAChangedProfileAndEndsWithItsRemoval() throws Exception {
    EraClient session = client(false);
    EraClient subscriber = client(true);
    try (NotificationStream ofSession = session.listenTo("");
        NotificationStream ofSubscriber = subscriber.listenTo("\"toolsListChanged\":true")) {

      bridge.reload(config(DESK.replace("'name':'find'", "'name':'seek'"), ""));

      for (NotificationStream each : List.of(ofSession, ofSubscriber)) {
        assertTrue(each.awaitNext("notifications/").contains("notifications/tools/list_changed"));
      }
      assertEquals(
          List.of("seek", "git__log"),
          names(session.request("tools/list", "").result().path("tools"), "/name"));
      assertEquals(-32602, session.call("find", "{\"text\":\"x\"}").errorCode());

      bridge.reload(config("", ""));

      assertEquals(-32602, session.call("seek", "{\"text\":\"x\"}").errorCode());
      assertEquals(404, post("/profiles/desk/tools/seek", "{'text':'x'}").status());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSubscriptionEndsWhenTheProfileNoLongerOffersItsResource(boolean isStateless)
      throws Exception {
    String config =
        "{'profiles':{'p':{'servers':{'x':{'tools':['*'],'resources':[%s]}}}},'mcpServers':{'x':"
            + TestBridge.entry(ExactServer.class, "")
            + "}}";
    try (TestBridge exact = TestBridge.of(config.formatted("'exact://0','exact://1'"))) {
      exact.awaitReady("x");
      EraClient client = EraClient.to(exact.uri("/profiles/p/mcp"), isStateless, "x__", "{}");
      try (NotificationStream first = client.listen("exact://0");
          NotificationStream last = isStateless ? alsoListen(client) : first) {
        if (!isStateless) {
          client.request("resources/subscribe", "\"uri\":\"exact://1\"").result();
        }

        CompletableFuture<String> ended =
            isStateless
                ? first.nextLater("notifications/resources/updated")
                : new CompletableFuture<>();

        exact.reload(config.formatted("'exact://1'"));
        EraClient other = EraClient.to(exact.uri("/mcp"), true, "x__", "{}");
        other.call("touch", "{\"uri\":\"exact://0\",\"n\":1}");
        other.call("touch", "{\"uri\":\"exact://1\",\"n\":2}");

        String update = last.awaitNext("notifications/resources/updated");
        assertTrue(update.contains("\"n\":2"), update);
        assertFalse(ended.isDone());
      }
    }
  }

  private static NotificationStream alsoListen(EraClient client) throws Exception {
    return client.withFixedId("\"2\"").listen("exact://1");
  }

  @Test
  void aSessionOfAProfileIsNotOneOfAllServers() throws Exception {
    EraClient session = client(false);

    Answer elsewhere =
        bridge.post(
            "/mcp",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
            "x-api-key",
            BOT,
            "accept",
            "application/json, text/event-stream",
            "mcp-session-id",
            session.client().session());

    assertEquals(404, elsewhere.status(), elsewhere.text());
  }

  @Test
  void anIdempotencyKeyBelongsToOneProfile() throws Exception {
    String first = "[{'id':'1','function':{'name':'find','arguments':{'text':'x'}}}]";
    String second =
        "[{'id':'1','function':{'name':'git__search','arguments':{'owner':'o','text':'x'}}}]";
    String[] headers = {"x-api-key", BOT, "idempotency-key", "k"};

    Answer desk = bridge.post("/profiles/desk/toolcall", first.replace('\'', '"'), headers);
    Answer all = bridge.post("/toolcall", second.replace('\'', '"'), headers);
    Answer again = bridge.post("/profiles/desk/toolcall", first.replace('\'', '"'), headers);

    assertTrue(desk.text().contains("acme"), desk.text());
    assertTrue(all.text().contains("\\\"owner\\\":\\\"o\\\""), all.text());
    assertEquals(desk.body().path("messages"), again.body().path("messages"));
  }

  @Test
  void aStreamOfAProfileLeadsBackToItAndStaysLean() throws Exception {
    HttpRequest open =
        HttpRequest.newBuilder(bridge.uri("/profiles/desk/sse?discovery=search"))
            .header("x-api-key", BOT)
            .build();
    try (BufferedReader events =
        new BufferedReader(
            new InputStreamReader(
                bridge.client().send(open, HttpResponse.BodyHandlers.ofInputStream()).body()))) {
      String address = data(events);
      for (String message :
          List.of(
              "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':"
                  + "'2024-11-05','capabilities':{},'clientInfo':{'name':'c','version':'1'}}}",
              "{'jsonrpc':'2.0','id':2,'method':'tools/list'}")) {
        assertEquals(202, post(address, message).status());
        String answer = data(events);
        assertTrue(
            message.contains("initialize")
                ? answer.contains("For the desk.")
                : answer.contains("search_tools") && !answer.contains("git__log"),
            answer);
      }
    }
  }

  private static String data(BufferedReader events) throws Exception {
    String line = events.readLine();
    while (!line.startsWith("data: ")) {
      line = events.readLine();
    }
    return line.substring(6);
  }

  @Test
  void aBlockedToolIsNotOfferedAndDoesNotRun() throws Exception {
    assertEquals(
        List.of("search", "push", "log"),
        names(get("/servers/git/tools").body().path("tools"), "/name"));
    Answer refused = bridge.post("/servers/git/tools/wipe", "{}", "x-api-key", BOSS);

    assertEquals(403, refused.status(), refused.text());
    assertTrue(refused.text().contains("blocks this tool"), refused.text());
    assertEquals("no", refused.at("/executed"), refused.text());

    bridge.reload(config(DESK, "").replace("'wipe':'block'", "'wipe':1"));
    bridge.until(() -> post("/servers/git/tools/wipe", "{}").status() == 200);
  }

  @Test
  void aProfileIsServedOverStdin() throws Exception {
    Path file = folder.resolve("bridge.json");
    Files.writeString(
        file,
        TestBridge.json(
            "{'profiles':{"
                + DESK
                + "},'mcpServers':{'git':"
                + CatalogueServer.entry(folder.resolve("tools.json"), TOOLS.replace('\'', '"'), "")
                + "}}"));
    Process relay =
        new ProcessBuilder(
                PackagedProgram.command("stdio", "--config", file.toString(), "--profile", "desk"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedWriter in = relay.outputWriter()) {
      in.write(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
              + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
              + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n");
      in.flush();

      String listed = relay.inputReader().readLine();

      assertTrue(listed.contains("\"name\":\"find\""), listed);
      assertFalse(listed.contains("git__push"), listed);
    }
    assertTrue(relay.waitFor(20, TimeUnit.SECONDS));
  }
}
