package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.HttpSseClient;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Access rules at every door: who lists what, and who may use it. */
@Tag("access")
class RulesIT {
  private static final String ANALYST = ApiKeys.generate();
  private static final String BOT = ApiKeys.generate();
  private static final String STRANGER = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();

  private static final String RULES =
      "{'name':'analysts','allow':['call','get'],'who':{'roles':['analyst']},"
          + "'servers':['s'],'tools':['*','!exit'],'prompts':['*']},"
          + "{'name':'analysts-read','allow':['read'],'who':{'roles':['analyst']},"
          + "'servers':['s'],'resources':['test://a *']},"
          + "{'name':'no-harm','deny':['call'],'who':{'roles':['analyst']},"
          + "'annotations':{'destructiveHint':{'equals':true}}},"
          + "{'name':'bot-echo','allow':['call'],'who':{'roles':['bot']},'servers':['s'],"
          + "'tools':['echo'],'arguments':{'/m':{'under':'/srv'}}},"
          + "{'name':'bot-waits','allow':['call'],'who':{'roles':['bot']},'servers':['s'],"
          + "'tools':['big'],'risk':2}";

  @AutoClose private TestBridge bridge;
  private final Map<String, TestBridge> inFront = new HashMap<>();

  @BeforeEach
  void start() throws Exception {
    bridge = TestBridge.of(config("", RULES));
    for (String server : List.of("s", "t")) {
      bridge.until(() -> get(BOSS, "/servers/" + server).at("/state").equals("ready"));
    }
  }

  @AfterEach
  void closeBridgesInFront() throws Exception {
    for (TestBridge each : inFront.values()) {
      each.close();
    }
  }

  private static String config(String settings, String rules) {
    return config(settings, rules, "'analyst'");
  }

  private static String config(String settings, String rules, String roleOfAnalyst) {
    return "{"
        + TestBridge.auth(
            TestBridge.key("analyst", ANALYST, "'read','call'", roleOfAnalyst),
            TestBridge.key("bot", BOT, "'read','call'", "'bot'"),
            TestBridge.key("stranger", STRANGER, "'read','call'", ""),
            TestBridge.key("boss", BOSS, "'read','call','approve','admin'", ""))
        + ",'access':{"
        + settings
        + "'rules':["
        + rules
        + "]},'mcpServers':{'s':"
        + TestBridge.entry("'risk':{'tools':{'argv':2}}")
        + ",'t':"
        + TestBridge.entry("")
        + "}}";
  }

  Answer get(String key, String path) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + key);
  }

  Answer post(String key, String path, String body) throws Exception {
    return bridge.post(path, body, "authorization", "Bearer " + key);
  }

  Answer call(String key, String server, String tool, String arguments) throws Exception {
    return post(key, "/servers/" + server + "/tools/" + tool, arguments);
  }

  McpClient client(String key, String path) {
    return new McpClient(bridge.uri(path), "{}", "authorization", "Bearer " + key);
  }

  HttpSseClient sseClient(String key) throws Exception {
    return new HttpSseClient(bridge.uri("/sse"), "authorization", "Bearer " + key);
  }

  /** A bridge whose server is the bridge with the rules, where it has a key. */
  TestBridge inFront(String key) throws Exception {
    if (!inFront.containsKey(key)) {
      String entry = "{'type':'mcp','url':'%s','headers':{'authorization':'Bearer %s'}}";
      inFront.put(
          key,
          TestBridge.of("{'mcpServers':{'far':" + entry.formatted(bridge.uri("/mcp"), key) + "}}"));
    }
    TestBridge front = inFront.get(key);
    front.until(() -> front.state("far").equals("ready"));
    return front;
  }

  static Set<String> names(JsonNode list, String member) {
    return list.valueStream()
        .map(entry -> entry.path(member).asText())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @EnumSource(RuleDoor.class)
  void everyDoorListsTheSame(RuleDoor door) throws Exception {
    Set<String> all = names(unrestricted(), "name");
    Set<String> ofAnalyst = new TreeSet<>(all);
    ofAnalyst.removeAll(List.of("exit", "effect"));

    assertTrue(ofAnalyst.size() > 20);
    assertEquals(ofAnalyst, door.lists(this, ANALYST));
    assertEquals(Set.of("echo", "big"), door.lists(this, BOT));
    assertEquals(Set.of(), door.lists(this, STRANGER));
  }

  /** Rules about one server, without conditions: every call tells whether its tool is listed. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void randomRulesMeanTheSameAtEveryDoor(long seed) throws Exception {
    Random random = new Random(seed);
    List<String> rules = new ArrayList<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      rules.add(randomRule("r" + i, random));
    }
    String text = String.join(",", rules);
    bridge.reload(config(random.nextBoolean() ? "'conceal':'all'," : "", text));
    for (String key : List.of(ANALYST, BOT)) {
      Set<String> listed = RuleDoor.REST.lists(this, key);
      for (RuleDoor door : RuleDoor.values()) {
        assertEquals(listed, door.lists(this, key), door + " " + text);
        for (String tool : List.of("echo", "answers", "cancels")) {
          assertEquals(
              !listed.contains(tool),
              door.refuses(this, key, tool),
              door + " " + tool + " " + text);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void randomRulesAboutResourcesAndPromptsMeanTheSameAtEveryDoor(long seed) throws Exception {
    Random random = new Random(seed);
    List<String> rules = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      rules.add(randomRuleAboutItems("r" + i, random));
    }
    String text = String.join(",", rules);
    bridge.reload(config(random.nextBoolean() ? "'conceal':'all'," : "", text));
    for (String key : List.of(ANALYST, BOT)) {
      for (ItemDoor.Kind kind : ItemDoor.Kind.values()) {
        boolean listed = ItemDoor.REST.lists(this, key, kind);
        for (ItemDoor door : ItemDoor.values()) {
          assertEquals(listed, door.lists(this, key, kind), door + " " + kind + " " + text);
          assertEquals(!listed, door.refuses(this, key, kind), door + " " + kind + " " + text);
        }
      }
    }
  }

  private static String randomRuleAboutItems(String name, Random random) {
    String effect = random.nextInt(5) == 0 ? "deny" : "allow";
    String who = List.of("'other'", "'analyst'", "'bot'", "'bot','analyst'").get(random.nextInt(4));
    String items =
        List.of(
                "'get'],'prompts':['*'",
                "'get'],'prompts':['g*','!greet'",
                "'list','get'],'prompts':['greet'",
                "'read'],'resources':['test://a *'",
                "'read'],'resources':['test://*','!test://a *'",
                "'read','list'],'resources':['*'",
                "'read','get'],'tools':['*'",
                "'read','get'")
            .get(random.nextInt(8));
    return "{'name':'%s','%s':[%s],'who':{'roles':[%s]},'servers':['s']}"
        .formatted(name, effect, items, who);
  }

  private static String randomRule(String name, Random random) {
    String effect = random.nextInt(3) == 0 ? "deny" : "allow";
    String actions = List.of("'call'", "'list','call'", "'call','read'").get(random.nextInt(3));
    String who = List.of("'other'", "'analyst'", "'bot'", "'bot','analyst'").get(random.nextInt(4));
    String tools =
        List.of("'*'", "'*','!echo'", "'echo','answers'", "'*s'", "'!cancels'")
            .get(random.nextInt(5));
    String annotations =
        effect.equals("deny") && random.nextBoolean()
            ? ",'annotations':{'destructiveHint':{'equals':" + random.nextBoolean() + "}}"
            : "";
    return "{'name':'%s','%s':[%s],'who':{'roles':[%s]},'servers':['s'],'tools':[%s]%s}"
        .formatted(name, effect, actions, who, tools, annotations);
  }

  private JsonNode unrestricted() throws Exception {
    bridge.reload(config("'mode':'report',", RULES));
    JsonNode tools = get(ANALYST, "/servers/s/tools").body().path("tools");
    bridge.reload(config("", RULES));
    return tools;
  }

  @ParameterizedTest
  @EnumSource(RuleDoor.class)
  void everyDoorRefusesWhatItDoesNotList(RuleDoor door) throws Exception {
    assertFalse(door.refuses(this, ANALYST, "echo"));
    for (String tool : List.of("exit", "effect")) {
      assertTrue(door.refuses(this, ANALYST, tool), tool);
    }
    assertTrue(door.refuses(this, BOT, "answers"));
    assertTrue(door.refuses(this, STRANGER, "echo"));
    assertEquals("ready", get(BOSS, "/servers/s").at("/state"));
  }

  @Test
  void refusalNamesTheRuleAndWhomToAsk() throws Exception {
    bridge.reload(config("'contact':'tools@example.org',", RULES));

    Answer denied = call(ANALYST, "s", "effect", "{}");
    Answer byDefault = call(ANALYST, "s", "exit", "{}");

    assertEquals(403, denied.status());
    assertEquals("forbidden", denied.code());
    assertEquals("no-harm", denied.at("/rule"));
    assertEquals("no", denied.at("/executed"));
    assertEquals("false", denied.at("/retryable"));
    assertTrue(denied.at("/detail").contains("tools@example.org"), denied.toString());
    assertNull(denied.header("www-authenticate"));
    assertEquals("default", byDefault.at("/rule"));
  }

  @Test
  void briefRefusalNamesNoRule() throws Exception {
    bridge.reload(config("'explain':'brief',", RULES));

    Answer denied = call(ANALYST, "s", "effect", "{}");

    assertEquals(403, denied.status());
    assertEquals("", denied.at("/rule"));
    assertFalse(denied.text().contains("no-harm"), denied.toString());
    assertEquals(403, get(ANALYST, "/access/explain?server=s&tool=effect").status());
    assertEquals(200, get(BOSS, "/access/explain?server=s&tool=effect").status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"m":"/srv/x"}                 | 200
          {"m":"/srv/x","n":1}           | 200
          {"m":"/etc/passwd"}            | 403
          {"m":"/srv/../etc/passwd"}     | 403
          {"m":"/srv/%2e%2e/etc"}        | 403
          {"m":["/srv/x"]}               | 403
          {"m":null}                     | 403
          {"n":{"m":"/srv/x"}}           | 403
          {}                             | 403
          {"m":"/etc","m":"/srv/x"}      | 400
          {"m":"/etc","\\u006d":"/srv/x"} | 400
          """)
  void conditionIsOnTheArgumentsThatTheServerGets(String arguments, int status) throws Exception {
    Answer answer = call(BOT, "s", "echo", arguments);

    assertEquals(status, answer.status(), answer.toString());
    if (status == 200) {
      assertEquals(arguments, answer.body().path("structuredContent").toString());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"m\":\"/etc/x\"}",
        "{\"m\":\"\\u002fetc/x\"}",
        "{\"m\":\"/srv/../etc/x\"}",
        "{\"m\":\"/srv/%2e%2e/etc/x\"}",
        "{\"m\":\"/srv/..\\\\/etc/x\"}",
        "{\"m\":[\"/etc/x\"]}",
        "{\"m\":{\"x\":\"/etc/x\"}}",
        "{\"m\":7}",
        "{\"m\":null}",
        "{}"
      })
  void ruleThatDeniesIsNotEvadedAtAnyDoor(String arguments) throws Exception {
    bridge.reload(
        config(
            "",
            "{'name':'all','allow':['call']},"
                + "{'name':'no-etc','deny':['call'],'arguments':{'/m':{'under':'/etc'}}}"));

    assertEquals(List.of(200, 0, 200), outcomes("{\"m\":\"/srv/x\"}"));
    assertEquals(List.of(403, 403, 403), outcomes(arguments));
  }

  /** Of a call over REST, over MCP, and by a model. */
  private List<Integer> outcomes(String arguments) throws Exception {
    String member = "\"name\":\"echo\",\"arguments\":" + arguments;
    Answer ofModel =
        post(
            BOT,
            "/toolcall",
            ModelFormat.OPENAI_CHAT.turn(ModelFormat.call("c", "s__echo", arguments)));
    return List.of(
        call(BOT, "s", "echo", arguments).status(),
        client(BOT, "/servers/s/mcp").stateless("tools/call", member).errorCode(),
        ofModel.body().at("/tool_responses/0/status").asInt());
  }

  @ParameterizedTest
  @CsvSource({
    "9, 200",
    "9.0, 200",
    "9.00000000000000000001, 403",
    "1e400, 400",
    "-1e400, 400",
    "'[9]', 403"
  })
  void numbersAreComparedWithEveryDigit(String number, int status) throws Exception {
    bridge.reload(config("", "{'name':'few','allow':['call'],'arguments':{'/n':{'max':9}}}"));

    assertEquals(status, call(BOT, "s", "echo", "{\"n\":" + number + "}").status());
  }

  @Test
  void argumentsOfAModelAreJudgedAsTheyAreSentOn() throws Exception {
    String turn =
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
            + "\"function\":{\"name\":\"s__echo\",\"arguments\":\"%s\"}}]}";

    Answer allowed = post(BOT, "/toolcall", turn.formatted("{\\\"m\\\":\\\"/srv/x\\\"}"));
    Answer refused = post(BOT, "/toolcall", turn.formatted("{\\\"m\\\":\\\"/etc\\\"}"));

    assertEquals("200", allowed.at("/tool_responses/0/status"));
    assertEquals("403", refused.at("/tool_responses/0/status"));
    assertTrue(refused.at("/tool_responses/0/output/error").contains("does not help"));
  }

  @Test
  void ruleRaisesTheRiskForSomeCallers() throws Exception {
    Answer ofBot = call(BOT, "s", "big", "{\"ms\":0,\"size\":1}");
    Answer ofAnalyst = call(ANALYST, "s", "big", "{\"ms\":0,\"size\":1}");

    assertEquals("true", ofBot.at("/requires_confirmation"), ofBot.toString());
    assertEquals("2 access", risk(BOT, "big"));
    assertEquals("1 none", risk(BOT, "echo"));
    assertEquals("1 none", risk(ANALYST, "big"));
    assertEquals("x", ofAnalyst.firstText());
    Answer confirmed =
        post(
            BOT,
            "/confirmations/" + ofBot.at("/confirmation_id"),
            "{\"confirm\":true,\"token\":\"" + ofBot.at("/token") + "\"}");
    assertEquals("x", confirmed.firstText(), confirmed.toString());
  }

  private String risk(String key, String tool) throws Exception {
    JsonNode listed =
        get(key, "/servers/s/tools")
            .body()
            .path("tools")
            .valueStream()
            .filter(entry -> entry.path("name").asText().equals(tool))
            .findFirst()
            .orElseThrow();
    return listed.path("risk_level").asText() + " " + listed.path("risk_reason").asText();
  }

  @Test
  void callOfACallerWhoLostItsRoleIsNotRunWhenItIsApproved() throws Exception {
    Answer held = call(ANALYST, "s", "argv", "{}");
    Answer control = call(ANALYST, "s", "argv", "{}");
    String path = "/confirmations/" + held.at("/confirmation_id");
    assertEquals(
        200,
        post(BOSS, "/confirmations/" + control.at("/confirmation_id"), "{\"confirm\":true}")
            .status());

    bridge.reload(config("", RULES, ""));
    Answer approved = post(BOSS, path, "{\"confirm\":true}");

    assertEquals(403, approved.status(), approved.toString());
    assertEquals("no", approved.at("/executed"));
    assertEquals("no", get(BOSS, path).at("/executed"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/servers/%s",
        "/servers/%s/tools",
        "/servers/%s/resources",
        "/servers/%s/prompts",
        "/servers/%s/openapi.json",
        "/servers/%s/resources/x"
      })
  void hiddenServerLooksLikeOneThatDoesNotExist(String path) throws Exception {
    Answer hidden = get(STRANGER, path.formatted("t"));
    Answer missing = get(STRANGER, path.formatted("z"));

    assertEquals(404, hidden.status());
    assertSame(missing, hidden);
  }

  /** Equal except for the name of the server and the id of the request. */
  private static void assertSame(Answer missing, Answer hidden) {
    assertEquals(missing.status(), hidden.status());
    assertEquals(
        missing
            .text()
            .replaceAll("'z'", "'t'")
            .replaceAll("server z", "server t")
            .replaceAll("\"requestId\":\"[^\"]*\"", ""),
        hidden.text().replaceAll("\"requestId\":\"[^\"]*\"", ""));
  }

  @Test
  void callAtAHiddenServerFailsLikeOneAtAMissingServer() throws Exception {
    assertSame(call(STRANGER, "z", "echo", "{}"), call(STRANGER, "t", "echo", "{}"));
    assertSame(call(STRANGER, "z", "none", "{}"), call(STRANGER, "t", "none", "{}"));
    for (String method : List.of("tools/list", "tools/call", "initialize")) {
      String body =
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""
              + method
              + "\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
              + "\"name\":\"echo\"}}";
      Answer hidden = post(STRANGER, "/servers/t/mcp", body);
      assertSame(post(STRANGER, "/servers/z/mcp", body), hidden);
    }
    assertEquals(
        404,
        bridge
            .put(
                "/servers/t/credentials",
                "{\"authorization\":\"Bearer x\"}",
                "authorization",
                "Bearer " + STRANGER)
            .status());
  }

  @Test
  void listsOfServersAndHealthLeaveHiddenServersOut() throws Exception {
    assertEquals(Set.of("s"), names(get(ANALYST, "/servers").body().path("servers"), "id"));
    assertEquals(Set.of("s"), names(get(ANALYST, "/health").body().path("servers"), "id"));
    assertEquals(Set.of(), names(get(STRANGER, "/servers").body().path("servers"), "id"));
    assertEquals(Set.of("s", "t"), names(get(BOSS, "/servers").body().path("servers"), "id"));
    assertFalse(get(ANALYST, "/metrics").text().contains("server=\"t\""));
    assertTrue(get(BOSS, "/metrics").text().contains("server=\"t\""));
  }

  @Test
  void concealingAllMakesAForbiddenToolUnknown() throws Exception {
    bridge.reload(config("'conceal':'all',", RULES));

    Answer forbidden = call(ANALYST, "s", "exit", "{}");
    Answer unknown = call(ANALYST, "s", "exiz", "{}");
    McpClient client = client(ANALYST, "/mcp").initialized();

    assertEquals(404, forbidden.status());
    assertEquals(
        unknown.text().replace("exiz", "exit").replaceAll("\"requestId\":\"[^\"]*\"", ""),
        forbidden.text().replaceAll("\"requestId\":\"[^\"]*\"", ""));
    assertEquals(-32602, client.call("s__exit", "{}").errorCode());
    assertEquals(-32602, client.call("t__echo", "{}").errorCode());
  }

  @Test
  void withoutConcealmentAHiddenServerIsForbidden() throws Exception {
    bridge.reload(config("'conceal':'none',", RULES));

    assertEquals(403, get(STRANGER, "/servers/t/tools").status());
    assertEquals(404, get(STRANGER, "/servers/z/tools").status());
  }

  @Test
  void resourcesAndPromptsFollowTheirRules() throws Exception {
    Answer allowed = get(ANALYST, "/servers/s/resources/test%3A%2F%2Fa%20b%2525");
    Answer forbidden = get(ANALYST, "/servers/s/resources/test%3A%2F%2Fb");
    Answer prompt = post(ANALYST, "/servers/s/prompts/greet", "{}");
    Answer ofBot = post(BOT, "/servers/s/prompts/greet", "{}");

    assertEquals(200, allowed.status(), allowed.toString());
    assertEquals(403, forbidden.status());
    assertEquals(200, prompt.status());
    assertEquals(403, ofBot.status());
    assertEquals(1, get(ANALYST, "/servers/s/resources").body().path("resources").size());
    assertEquals(0, get(BOT, "/servers/s/resources").body().path("resources").size());
    assertEquals(0, get(BOT, "/servers/s/prompts").body().path("prompts").size());
  }

  @Test
  void completionIsDecidedByWhatItIsFor() throws Exception {
    McpClient client = client(ANALYST, "/servers/s/mcp").initialized();
    String argument = ",\"argument\":{\"name\":\"x\",\"value\":\"\"}}";

    assertEquals(403, complete(client, "ref/resource", "\"uri\":\"test://b/{x}\"" + argument));
    assertEquals(
        -32602,
        complete(client, "ref/resource", "\"uri\":\"test://b/{x}\",\"name\":\"greet\"" + argument));
    assertEquals(-32602, complete(client, "ref/resource", "\"name\":\"greet\"" + argument));
    assertEquals(-32601, complete(client, "ref/prompt", "\"name\":\"greet\"" + argument));
  }

  /** The server has no completions: what is allowed reaches it and fails there. */
  private static int complete(McpClient client, String type, String reference) throws Exception {
    int end = reference.indexOf(",\"argument\"");
    return client
        .request(
            "completion/complete",
            "{\"ref\":{\"type\":\""
                + type
                + "\","
                + reference.substring(0, end)
                + "}"
                + reference.substring(end))
        .errorCode();
  }

  @Test
  void numberThatCannotBeComparedIsRefused() throws Exception {
    bridge.reload(config("", "{'name':'few','allow':['call'],'arguments':{'/n':{'max':9}}}"));

    Answer answer = call(BOT, "s", "echo", "{\"n\":1e-99999999999}");

    assertEquals(422, answer.status(), answer.toString());
    assertEquals("no", answer.at("/executed"));
  }

  @Test
  void describingAForbiddenToolTellsNothing() throws Exception {
    McpClient client = client(ANALYST, "/mcp?discovery=search").initialized();

    McpClient.Reply forbidden = client.call("describe_tool", "{\"name\":\"s__effect\"}");
    McpClient.Reply allowed = client.call("describe_tool", "{\"name\":\"s__echo\"}");

    assertTrue(forbidden.firstText().contains("Unknown tool"), forbidden.toString());
    assertEquals("s__echo", allowed.result().at("/structuredContent/name").asText());
  }

  @Test
  void reportModeRefusesNothingAndCountsWhatWouldBeRefused() throws Exception {
    bridge.reload(config("'mode':'report',", RULES));

    Answer called = call(STRANGER, "t", "echo", "{}");
    Answer ofBot = call(BOT, "s", "big", "{\"ms\":0,\"size\":1}");

    assertEquals(200, called.status());
    assertEquals("x", ofBot.firstText());
    assertEquals(
        1.0,
        MetricsText.values(
                get(BOSS, "/metrics").text(),
                "mcp_bridge_access_decisions_total{decision=\"would_deny\",rule=\"default\"}")
            .sum());
  }

  @Test
  void decisionsAreCountedByRule() throws Exception {
    call(ANALYST, "s", "echo", "{}");
    call(ANALYST, "s", "effect", "{}");

    String metrics = get(BOSS, "/metrics").text();

    assertTrue(metrics.contains("{decision=\"allow\",rule=\"analysts\"} 1"), metrics);
    assertTrue(metrics.contains("{decision=\"deny\",rule=\"no-harm\"} 1"), metrics);
  }

  @Test
  void explanationSaysWhatEachRuleContributes() throws Exception {
    Answer own = get(ANALYST, "/access/explain?server=s&tool=effect");
    Answer other =
        post(
            BOSS,
            "/access/explain",
            "{\"as\":\"bot\",\"server\":\"s\",\"tool\":\"echo\",\"arguments\":{\"m\":\"/etc\"}}");
    Answer token = get(BOSS, "/access/explain?as=corp%7Calice&roles=analyst&server=s&tool=echo");

    assertEquals("deny", own.at("/decision"));
    assertEquals("no-harm", own.at("/rule"));
    assertEquals(
        Set.of("analysts", "analysts-read", "no-harm"), names(own.body().path("rules"), "name"));
    assertEquals("deny", other.at("/decision"));
    assertEquals("true", other.at("/listed"));
    assertEquals(5, other.body().path("rules").size());
    assertTrue(other.at("/rules/3/reason").contains("/m under"), other.toString());
    assertEquals("allow", token.at("/decision"));
    assertEquals("analysts", token.at("/rule"));
  }

  @Test
  void administratorLearnsWhyACallerSeesNothing() throws Exception {
    Answer hidden = get(BOSS, "/access/explain?as=stranger&server=t&tool=echo");

    assertEquals("deny", hidden.at("/decision"), hidden.toString());
    assertEquals("false", hidden.at("/listed"));
    assertEquals("the caller has none of the roles", hidden.at("/rules/0/reason"));
  }

  @Test
  void commandExplainsAndExitsByTheDecision() throws Exception {
    String denied = explained(1, "s/effect");
    String allowed = explained(0, "s/echo", "{\"m\":1}");

    assertTrue(denied.startsWith("deny: analyst, rule no-harm, not listed"), denied);
    assertTrue(denied.contains("no-harm"), denied);
    assertTrue(allowed.startsWith("allow: analyst, rule analysts, listed"), allowed);
  }

  private String explained(int status, String... arguments) throws Exception {
    List<String> command = PackagedProgram.command("access", "explain");
    command.addAll(List.of("--url", bridge.uri("").toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("MCP_BRIDGE_KEY", ANALYST);
    Process program = builder.start();
    String out = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(status, program.waitFor(), out);
    return out;
  }

  @Test
  void explanationAgreesWithTheCallForEveryToolAndCaller() throws Exception {
    List<String> different = new ArrayList<>();
    for (String key : List.of(ANALYST, BOT)) {
      for (String tool : List.of("echo", "big", "effect", "answers", "exit")) {
        Answer explained =
            get(
                key,
                "/access/explain?server=s&tool="
                    + tool
                    + "&arguments={}".replace("{", "%7B").replace("}", "%7D"));
        boolean refused = call(key, "s", tool, "{}").status() == 403;
        if (refused != explained.at("/decision").equals("deny")) {
          different.add(tool + " " + explained);
        }
      }
    }

    assertEquals(List.of(), different);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          server=s&tool=echo&as=boss           | 403
          server=s&tool=echo&roles=analyst     | 403
          server=t&tool=echo                   | 404
          server=s&tool=none                   | 404
          server=s                             | 422
          server=s&tool=echo&prompt=x          | 422
          tool=echo                            | 422
          server=s&tool=echo&arguments=%5B1%5D | 400
          """)
  void questionOfACallerThatCannotBeAnsweredIsRefused(String query, int status) throws Exception {
    Answer answer = get(ANALYST, "/access/explain?" + query);

    assertEquals(status, answer.status(), answer.toString());
  }

  @Test
  void entityTagsDifferByWhatOneSees() throws Exception {
    Answer ofAnalyst = get(ANALYST, "/servers/s/tools");
    Answer ofBot = get(BOT, "/servers/s/tools");
    Answer again =
        bridge.get(
            "/servers/s/tools",
            "authorization",
            "Bearer " + BOT,
            "if-none-match",
            ofAnalyst.header("etag"));

    assertNotEquals(ofAnalyst.header("etag"), ofBot.header("etag"));
    assertEquals(200, again.status());
    assertEquals("private", ofBot.header("cache-control"));
    assertTrue(ofBot.header("vary").toLowerCase().contains("authorization"));
  }

  @Test
  void changedRulesChangeListsAndTellTheSessionsThatSeeIt() throws Exception {
    McpClient analyst = client(ANALYST, "/mcp").initialized();
    McpClient bot = client(BOT, "/mcp").initialized();
    BufferedReader analystEvents = analyst.listen();
    BufferedReader botEvents = bot.listen();

    bridge.reload(config("", RULES.replace("'!exit'", "'!exit','!log'")));
    JsonNode told = McpClient.nextLater(analystEvents).get(10, TimeUnit.SECONDS);
    CompletableFuture<JsonNode> ofBot = McpClient.nextLater(botEvents);
    bridge.reload(config("", RULES.replace("'tools':['echo']", "'tools':['echo','argv']")));

    assertEquals("notifications/tools/list_changed", told.path("method").asText());
    assertEquals(
        "notifications/tools/list_changed",
        ofBot.get(10, TimeUnit.SECONDS).path("method").asText());
    assertTrue(RuleDoor.MCP.lists(this, BOT).contains("argv"));
  }

  @Test
  void subscriptionStreamTellsOnlyOfChangesThatItsCallerSees() throws Exception {
    BufferedReader ofAnalyst = subscribed(ANALYST);
    BufferedReader ofBot = subscribed(BOT);
    McpClient.next(ofAnalyst);
    McpClient.next(ofBot);

    bridge.reload(config("", RULES.replace("'!exit'", "'!exit','!log'")));
    JsonNode told = McpClient.nextLater(ofAnalyst).get(10, TimeUnit.SECONDS);
    CompletableFuture<JsonNode> ofOther = McpClient.nextLater(ofBot);
    bridge.reload(config("", RULES));
    JsonNode again = McpClient.nextLater(ofAnalyst).get(10, TimeUnit.SECONDS);

    assertEquals("notifications/tools/list_changed", told.path("method").asText());
    assertEquals("notifications/tools/list_changed", again.path("method").asText());
    assertFalse(ofOther.isDone());
  }

  private BufferedReader subscribed(String key) throws Exception {
    return new BufferedReader(
        new InputStreamReader(
            client(key, "/mcp")
                .begin("subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}")
                .response()
                .join()
                .body()));
  }

  @Test
  void rulesThatAreTightenedUnderLoadHoldFromTheReloadOn() throws Exception {
    String tightened = RULES.replace("'!exit'", "'!exit','!echo'");
    AtomicBoolean isTight = new AtomicBoolean();
    List<String> passed = new ArrayList<>();
    CompletableFuture<Void> load =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 2_000; i++) {
                try {
                  boolean wasTight = isTight.get();
                  Answer answer = call(ANALYST, "s", "echo", "{}");
                  if (wasTight && answer.status() != 403) {
                    passed.add(answer.toString());
                  }
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              }
            });
    bridge.until(() -> get(BOSS, "/metrics").text().contains("rule=\"analysts\"} "));

    bridge.reload(config("", tightened));
    isTight.set(true);
    load.get(60, TimeUnit.SECONDS);

    assertEquals(List.of(), passed);
    assertEquals(403, call(ANALYST, "s", "echo", "{}").status());
  }

  @Test
  void invalidRulesAreNotApplied() throws Exception {
    boolean refused = false;
    try {
      bridge.reload(config("", "{'name':'x','allow':['everything']}"));
    } catch (RuntimeException invalid) {
      refused = invalid.getMessage().contains("access.rules[0].allow[0]");
    }

    assertTrue(refused);
    assertEquals(200, call(ANALYST, "s", "echo", "{}").status());
  }

  @Test
  void eventsAreOnlyAboutServersThatTheListenerSees() throws Exception {
    try (BufferedReader ofAnalyst = events(ANALYST);
        BufferedReader ofBoss = events(BOSS)) {
      post(BOSS, "/servers/t/restart", "");
      post(BOSS, "/servers/s/restart", "");

      assertEquals("s", firstServer(ofAnalyst));
      assertEquals("t", firstServer(ofBoss));
    }
  }

  private BufferedReader events(String key) throws Exception {
    var request =
        HttpRequest.newBuilder(bridge.uri("/events"))
            .header("authorization", "Bearer " + key)
            .build();
    var response = bridge.client().send(request, HttpResponse.BodyHandlers.ofInputStream());
    return new BufferedReader(new InputStreamReader(response.body()));
  }

  private static String firstServer(BufferedReader events) throws Exception {
    String line = events.readLine();
    while (line != null && !line.contains("\"server\"")) {
      line = events.readLine();
    }
    assertNotNull(line);
    return line.replaceAll(".*\"server\":\"(\\w+)\".*", "$1");
  }
}
