package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.HttpSseClient;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Quotas at the doors. */
@Tag("access")
class QuotasIT {
  private static final String ALICE = ApiKeys.generate();
  private static final String BOB = ApiKeys.generate();
  private static final String CAROL = ApiKeys.generate();

  private static final String TURN =
      ModelFormat.OPENAI_CHAT.turn(ModelFormat.call("1", "s__answers", "{}"));

  private static final String QUOTAS =
      "{'name':'calls','per':'caller','quota':1000,'tools':['echo']},"
          + "{'name':'few','per':'caller','rate':2,'window':3600,'tools':['answers']},"
          + "{'name':'team','per':'role','quota':2,'tools':['remember']},"
          + "{'name':'at-once','per':'server','concurrent':1,'tools':['sleep']},"
          + "{'name':'read','per':'caller','quota':1,'resources':['*']},"
          + "{'name':'loop','repeats':3,'window':3600,'tools':['cancels']}";

  @AutoClose private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    bridge = TestBridge.of(config(QUOTAS));
    bridge.until(() -> get(ALICE, "/servers/s").at("/state").equals("ready"));
  }

  private static String config(String quotas) {
    return "{"
        + TestBridge.auth(
            TestBridge.key("alice", ALICE, "'read','call'", "'team'"),
            TestBridge.key("bob", BOB, "'read','call'", "'team'"),
            TestBridge.key("carol", CAROL, "'read','call'", "'guest'"))
        + ",'quotas':["
        + quotas
        + "],'profiles':{'p':{'servers':{'s':{}}}},'mcpServers':{'s':"
        + TestBridge.entry("")
        + "}}";
  }

  private Answer get(String key, String path) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + key);
  }

  private Answer call(String key, String tool, String arguments, String... headers)
      throws Exception {
    return bridge.call(tool, arguments, McpClient.with(headers, "authorization", "Bearer " + key));
  }

  private Answer post(String key, String path, String body) throws Exception {
    return bridge.post(path, body, "authorization", "Bearer " + key);
  }

  private McpClient client(String key) {
    return client(key, "/servers/s/mcp");
  }

  private McpClient client(String key, String path) {
    return new McpClient(bridge.uri(path), "{}", "authorization", "Bearer " + key);
  }

  @Test
  void callBeyondTheRateIsRefusedWithTheTimeToWait() throws Exception {
    assertEquals(200, call(ALICE, "answers", "{}").status());
    assertEquals(200, call(ALICE, "answers", "{}").status());

    Answer refused = call(ALICE, "answers", "{}");

    assertEquals(429, refused.status());
    assertEquals("rate_limited", refused.code());
    assertEquals("few", refused.at("/limit"));
    assertEquals("no", refused.at("/executed"));
    assertEquals("true", refused.at("/retryable"));
    assertTrue(Integer.parseInt(refused.header("retry-after")) > 1_000);
    assertEquals("\"few\";q=2;w=3600", refused.header("ratelimit-policy"));
    assertTrue(refused.header("ratelimit").startsWith("\"few\";r=0;t="), refused.toString());
    assertEquals(200, call(BOB, "answers", "{}").status());
    assertEquals(200, call(ALICE, "echo", "{}").status());
  }

  @Test
  void answersTellWhatIsLeft() throws Exception {
    Answer first = call(ALICE, "echo", "{}");
    Answer second = call(ALICE, "echo", "{}");

    assertEquals("\"calls\";q=1000;w=86400", first.header("ratelimit-policy"));
    assertTrue(first.header("ratelimit").startsWith("\"calls\";r=999;t="));
    assertTrue(second.header("ratelimit").startsWith("\"calls\";r=998;t="));
    assertNull(call(ALICE, "sleep", "{\"ms\":0}").header("ratelimit"));
  }

  /** A door by which a tool without arguments is called; answers with the code of the failure. */
  private interface Door {
    int call(QuotasIT it, String key) throws Exception;
  }

  private static final Map<String, Door> DOORS =
      Map.ofEntries(
          Map.entry("REST", (it, key) -> it.call(key, "answers", "{}").status()),
          Map.entry(
              "a background call",
              (it, key) -> {
                String call =
                    it.call(key, "answers", "{}", "prefer", "respond-async").header("location");
                it.bridge.until(() -> !it.get(key, call).at("/status").equals("running"));
                return it.get(key, call).body().at("/problem/status").asInt();
              }),
          Map.entry(
              "a stream",
              (it, key) -> {
                String events = it.call(key, "answers", "{}", "accept", "text/event-stream").text();
                return events.contains("event: result")
                    ? 200
                    : events.contains("\"status\":429") ? 429 : 1;
              }),
          Map.entry(
              "a profile",
              (it, key) -> it.post(key, "/profiles/p/tools/s__answers", "{}").status()),
          Map.entry(
              "a batch",
              (it, key) ->
                  it.post(key, "/batch", "{\"calls\":[{\"server\":\"s\",\"tool\":\"answers\"}]}")
                      .body()
                      .at("/results/0/status")
                      .asInt()),
          Map.entry(
              "tool calls of a model",
              (it, key) ->
                  it.post(key, "/toolcall", TURN).body().at("/tool_responses/0/status").asInt()),
          Map.entry(
              "a session",
              (it, key) -> it.client(key).initialized().call("answers", "{}").errorCode()),
          Map.entry(
              "a request without a session",
              (it, key) -> it.client(key).stateless("tools/call", member("answers")).errorCode()),
          Map.entry(
              "all servers",
              (it, key) ->
                  it.client(key, "/mcp").initialized().call("s__answers", "{}").errorCode()),
          Map.entry(
              "lean discovery",
              (it, key) ->
                  it.client(key, "/mcp?discovery=search")
                      .initialized()
                      .call("call_tool", "{\"name\":\"s__answers\",\"arguments\":{}}")
                      .errorCode()),
          Map.entry(
              "HTTP+SSE",
              (it, key) -> {
                try (HttpSseClient client =
                    new HttpSseClient(it.bridge.uri("/sse"), "authorization", "Bearer " + key)) {
                  return client
                      .request("tools/call", "{\"name\":\"s__answers\",\"arguments\":{}}")
                      .at("/error/code")
                      .asInt();
                }
              }));

  static Set<String> doors() {
    return DOORS.keySet();
  }

  @ParameterizedTest
  @MethodSource("doors")
  void callCountsAndIsRefusedAtEveryDoor(String name) throws Exception {
    Door door = DOORS.get(name);
    Set<Integer> passed = new HashSet<>(List.of(door.call(this, ALICE), door.call(this, BOB)));
    assertTrue(Set.of(0, 200, 202).containsAll(passed), passed.toString());
    assertEquals(200, call(ALICE, "answers", "{}").status());

    assertEquals(429, call(ALICE, "answers", "{}").status());
    assertEquals(429, door.call(this, ALICE), name);
    assertTrue(passed.contains(door.call(this, BOB)));
  }

  @Test
  void refusalInASessionHasTheLimitAndTheTimeToWait() throws Exception {
    McpClient session = client(ALICE).initialized();
    session.call("answers", "{}");
    session.call("answers", "{}");

    McpClient.Reply refused = session.call("answers", "{}");

    assertEquals("few", refused.last().at("/error/data/limit").asText());
    assertTrue(refused.last().at("/error/data/retryAfterSeconds").asInt() > 1_000);
  }

  @Test
  void quotaOfARoleIsSharedByThoseWhoHaveIt() throws Exception {
    assertEquals(200, call(ALICE, "remember", "{\"text\":\"x\"}").status());
    assertEquals(200, call(BOB, "remember", "{\"text\":\"x\"}").status());

    Answer refused = call(ALICE, "remember", "{\"text\":\"x\"}");

    assertEquals("team", refused.at("/limit"), refused.toString());
    assertEquals(429, call(BOB, "remember", "{\"text\":\"x\"}").status());
    assertEquals(200, call(CAROL, "remember", "{\"text\":\"x\"}").status());
  }

  private static String member(String tool) {
    return "\"name\":\"" + tool + "\",\"arguments\":{}";
  }

  @Test
  void onlyOneCallOfTheServerRunsAtOnce() throws Exception {
    CompletableFuture<Answer> running =
        bridge.callLater("sleep", "{\"ms\":1500}", "authorization", "Bearer " + ALICE);
    bridge.until(() -> get(ALICE, "/servers/s").at("/pending_calls").equals("1"));

    Answer refused = call(BOB, "sleep", "{\"ms\":0}");

    assertEquals(429, refused.status());
    assertEquals("at-once", refused.at("/limit"));
    assertEquals("1", refused.header("retry-after"));
    assertEquals(200, running.get(20, TimeUnit.SECONDS).status());
    assertEquals(200, call(BOB, "sleep", "{\"ms\":0}").status());
  }

  @Test
  void placeOfAClientThatLeftIsFreeAgain() throws Exception {
    for (int i = 0; i < 5; i++) {
      CompletableFuture<Answer> leaving =
          bridge.callLater("sleep", "{\"ms\":60000}", "authorization", "Bearer " + ALICE);
      bridge.until(() -> get(ALICE, "/servers/s").at("/pending_calls").equals("1"));
      leaving.cancel(true);
      bridge.until(() -> get(ALICE, "/servers/s").at("/pending_calls").equals("0"));
    }

    bridge.until(() -> call(BOB, "sleep", "{\"ms\":0}").status() == 200);
  }

  @Test
  void placeOfACallWhoseServerDiesIsFreeAgain() throws Exception {
    CompletableFuture<Answer> running =
        bridge.callLater("sleep", "{\"ms\":60000}", "authorization", "Bearer " + ALICE);
    bridge.until(() -> get(ALICE, "/servers/s").at("/pending_calls").equals("1"));
    long pid = get(ALICE, "/servers/s").body().at("/pids/0").asLong();

    ProcessHandle.of(pid).orElseThrow().destroyForcibly();

    assertEquals(502, running.get(20, TimeUnit.SECONDS).status());
    assertEquals(200, call(BOB, "sleep", "{\"ms\":0}").status());
  }

  /** A session that gets no process is refused before its call starts. */
  @Test
  void refusedSessionsKeepNoPlaces() throws Exception {
    String quota = "{'name':'iso','per':'server','concurrent':2}";
    String server = TestBridge.entry("'isolation':'session','maxSessions':1");
    try (TestBridge own =
        TestBridge.of("{'quotas':[" + quota + "],'mcpServers':{'s':" + server + "}}")
            .awaitReady("s")) {
      McpClient first = new McpClient(own.uri("/servers/s/mcp"), "{}").initialized();
      assertEquals(0, first.call("echo", "{}").errorCode());
      for (int i = 0; i < 5; i++) {
        McpClient greedy = new McpClient(own.uri("/servers/s/mcp"), "{}").initialized();
        assertEquals(503, greedy.call("echo", "{}").errorCode());
      }
      assertEquals(0, first.call("echo", "{}").errorCode());
    }
  }

  @Test
  void resourcesCountAndListsDoNot() throws Exception {
    assertEquals(200, get(ALICE, "/servers/s/resources/test%3A%2F%2Fa").status());
    assertEquals(429, get(ALICE, "/servers/s/resources/test%3A%2F%2Fa").status());
    assertEquals(200, get(ALICE, "/servers/s/resources").status());
  }

  @Test
  void repeatedCallIsStoppedUntilItsArgumentsChange() throws Exception {
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      statuses.add(call(ALICE, "cancels", "{\"n\":1}").status());
    }

    assertEquals(List.of(200, 200, 200, 429, 429), statuses);
    assertTrue(call(ALICE, "cancels", "{\"n\":1}").at("/detail").contains("Do not repeat it"));
    assertEquals(200, call(ALICE, "cancels", "{\"n\":2}").status());
  }

  @Test
  void failedCallsCountToo() throws Exception {
    bridge.reload(config("{'name':'x','per':'caller','quota':2,'tools':['*']}"));

    assertEquals(404, call(ALICE, "no_such_tool", "{}").status());
    assertEquals(422, call(ALICE, "sleep", "{\"ms\":\"x\"}").status());
    assertEquals(422, call(ALICE, "sleep", "{\"ms\":\"x\"}").status());
    assertEquals(429, call(ALICE, "echo", "{}").status());
  }

  @Test
  void quotaOfADaySurvivesAKilledBridge(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("bridge.json");
    String port = Integer.toString(FreePorts.find(1).get(0));
    Files.writeString(
        file,
        TestBridge.json(
            "{'quotas':[{'name':'d','per':'caller','quota':2}],'mcpServers':{'s':"
                + TestBridge.entry("")
                + "}}"));

    try (ServedBridge first = served(folder, file, port)) {
      assertEquals(200, echo(first).statusCode());
      assertEquals(200, echo(first).statusCode());
      Path counted = folder.resolve("mcp-bridge").resolve("quotas-" + port + ".json");
      bridge.until(() -> Files.exists(counted) && Files.readString(counted).contains("\"used\":2"));
      first.process().destroyForcibly().waitFor();
    }
    try (ServedBridge second = served(folder, file, port)) {
      assertEquals(429, echo(second).statusCode());
    }
  }

  private static ServedBridge served(Path folder, Path file, String port) throws Exception {
    ProcessBuilder program =
        new ProcessBuilder(
            PackagedProgram.command("serve", "--port", port, "--config", file.toString()));
    program.redirectError(folder.resolve("err").toFile());
    program.environment().put("XDG_STATE_HOME", folder.toString());
    return ServedBridge.from(program);
  }

  private HttpResponse<String> echo(ServedBridge served) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(served.url() + "/servers/s/tools/echo"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    return bridge.client().send(request, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void changedQuotaAppliesAtOnce() throws Exception {
    call(ALICE, "answers", "{}");
    call(ALICE, "answers", "{}");
    assertEquals(429, call(ALICE, "answers", "{}").status());

    bridge.reload(config(""));

    Answer free = call(ALICE, "answers", "{}");
    assertEquals(200, free.status());
    assertNull(free.header("ratelimit"));
  }
}
