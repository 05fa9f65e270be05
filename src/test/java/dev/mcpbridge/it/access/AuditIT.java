package dev.mcpbridge.it.access;

import static dev.mcpbridge.fixture.TrailFiles.of;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.audit.AuditVerifier;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TrailFiles;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit trail of a bridge: what it has of every call, and that it cannot be changed. */
@Tag("access")
class AuditIT {
  private static final String CALLER = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final String READER = ApiKeys.generate();
  private static final String KEYS =
      TestBridge.auth(
          TestBridge.key("reader", READER, "'read'"),
          TestBridge.key("caller", CALLER, "'read','call'", "'dev'"),
          TestBridge.key("boss", BOSS, "'read','call','approve','admin'"));

  @TempDir private Path folder;
  @AutoClose private TestBridge bridge;

  private String audit(String more) {
    return "'audit':{'folder':'" + folder.resolve("trail") + "'" + more + "}";
  }

  private void start(String more, String entry) throws Exception {
    bridge =
        TestBridge.of(
            "{"
                + audit(more)
                + ","
                + KEYS
                + ",'access':{'rules':[{'name':'all','allow':['call']},"
                + "{'name':'no-exit','deny':['call'],'tools':['exit']}]}"
                + ",'mcpServers':{'s':"
                + TestBridge.entry(entry)
                + "}}");
    bridge.until(
        () ->
            bridge
                .get("/servers/s", "authorization", "Bearer " + BOSS)
                .at("/state")
                .equals("ready"));
  }

  private Answer call(String tool, String arguments) throws Exception {
    return bridge.call(tool, arguments, "authorization", "Bearer " + CALLER);
  }

  /** Ends the bridge and reads its trail, which must be right. */
  private List<JsonNode> records() throws Exception {
    bridge.close();
    AuditVerifier.Report report = AuditVerifier.verify(folder.resolve("trail"), null, null);
    assertNull(report.error());
    assertEquals(0, report.unsigned());
    return read();
  }

  private List<JsonNode> read() throws Exception {
    return TrailFiles.records(folder.resolve("trail"));
  }

  @Test
  void callHasADecisionAndAnOutcomeWithWhoAndWhat() throws Exception {
    // Given
    start("", "");

    // When
    call("echo", "{\"m\":\"secret\"}");
    call("tool_error", "{}");

    // Then
    List<JsonNode> records = records();
    JsonNode decision = of(records, "call.decision").get(0);
    assertEquals("caller", decision.path("principal").asText());
    assertEquals("[\"dev\"]", decision.path("roles").toString());
    assertEquals("rest", decision.path("door").asText());
    assertEquals("127.0.0.1", decision.path("address").asText());
    assertEquals("s", decision.path("server").asText());
    assertEquals("echo", decision.path("name").asText());
    assertEquals("allow", decision.path("decision").asText());
    assertTrue(decision.path("arguments_digest").asText().startsWith("hmac-sha256:"));
    JsonNode outcome = of(records, "call.outcome").get(0);
    assertEquals(decision.path("call"), outcome.path("call"));
    assertEquals("completed", outcome.path("outcome").asText());
    assertEquals("yes", outcome.path("executed").asText());
    assertEquals("tool_error", of(records, "call.outcome").get(1).path("outcome").asText());
    assertFalse(records.toString().contains("secret"));
  }

  @Test
  void callOverMcpWithAKeyThatMayNotCallIsRefusedAndRecorded() throws Exception {
    // Given
    start("", "");
    McpClient client = new McpClient(bridge.uri("/mcp"), "{}", "x-api-key", READER).initialized();

    // When
    client.request("tools/call", "{\"name\":\"s__echo\",\"arguments\":{}}");

    // Then
    Map<String, JsonNode> decisions = TrailFiles.decisions(records());
    assertEquals(1, decisions.size(), decisions.toString());
    JsonNode decision = decisions.values().iterator().next();
    assertEquals("reader", decision.path("principal").asText());
    assertEquals("refuse", decision.path("decision").asText());
    assertEquals("forbidden", decision.path("code").asText());
  }

  @Test
  void storedAndDeletedCredentialsOfCallersAreRecorded() throws Exception {
    // Given
    start("", "");
    String[] caller = {"authorization", "Bearer " + CALLER};

    // When
    Answer stored =
        bridge.put("/servers/s/credentials", "{\"authorization\":\"Bearer hidden\"}", caller);
    Answer deleted = bridge.delete("/servers/s/credentials", caller);

    // Then
    assertEquals(204, stored.status(), stored.toString());
    assertEquals(204, deleted.status(), deleted.toString());
    List<JsonNode> records = records();
    List<JsonNode> changes = of(records, "server.credential");
    assertEquals(
        List.of("put", "delete"),
        changes.stream().map(each -> each.path("action").asText()).toList());
    assertEquals("caller", changes.get(0).path("principal").asText());
    assertFalse(records.toString().contains("hidden"));
  }

  @Test
  void refusedCallHasItsReasonAndWasNotExecuted() throws Exception {
    // Given
    start("", "");

    // When
    assertEquals(403, call("exit", "{}").status());

    // Then
    List<JsonNode> records = records();
    JsonNode decision = of(records, "call.decision").get(0);
    assertEquals("refuse", decision.path("decision").asText());
    assertEquals("forbidden", decision.path("code").asText());
    assertEquals("no-exit", decision.path("rule").asText());
    assertEquals("no", of(records, "call.outcome").get(0).path("executed").asText());
  }

  @Test
  void approvedCallSaysWhoHasApprovedWhat() throws Exception {
    // Given
    start(",'arguments':'full','strict':true", "'riskLevel':2");

    // When
    Answer held = call("echo", "{\"m\":\"a\"}");
    Answer rejected = call("echo", "{\"m\":\"b\"}");
    Answer wrong =
        bridge.post(
            "/confirmations/" + held.at("/confirmation_id"),
            "{\"confirm\":true,\"token\":\"guessed\"}",
            "authorization",
            "Bearer " + CALLER);
    assertEquals(403, wrong.status(), wrong.toString());
    for (String[] each :
        List.of(
            new String[] {held.at("/confirmation_id"), "true"},
            new String[] {rejected.at("/confirmation_id"), "false"})) {
      bridge.post(
          "/confirmations/" + each[0],
          "{\"confirm\":" + each[1] + "}",
          "authorization",
          "Bearer " + BOSS);
    }

    // Then
    List<JsonNode> records = records();
    List<JsonNode> decisions = of(records, "call.decision");
    assertEquals(
        List.of("confirm", "confirm", "allow"),
        decisions.stream().map(each -> each.path("decision").asText()).toList());
    assertEquals("{\"m\":\"a\"}", decisions.get(0).path("arguments").toString());
    JsonNode refused = of(records, "confirmation").get(0);
    assertEquals("refuse", refused.path("decision").asText());
    assertEquals(wrong.code(), refused.path("code").asText());
    assertEquals(held.at("/confirmation_id"), refused.path("confirmation").asText());
    JsonNode approval = of(records, "confirmation").get(1);
    assertEquals(decisions.get(2).path("call"), approval.path("call"));
    assertEquals("boss", approval.path("approver").asText());
    assertEquals("approve", approval.path("decision").asText());
    assertEquals(held.at("/confirmation_id"), approval.path("confirmation").asText());
    assertEquals("reject", of(records, "confirmation").get(2).path("decision").asText());
    assertEquals(held.at("/confirmation_id"), decisions.get(2).path("confirmation").asText());
  }

  @Test
  void callsThatEndBadlyHaveTheirOutcome() throws Exception {
    // Given
    bridge =
        TestBridge.of(
                "{"
                    + audit("")
                    + ",'mcpServers':{'s':"
                    + TestBridge.entry("'maxInFlight':1,'maxQueued':1,'risk':{'tools':{'argv':3}}")
                    + "}}")
            .awaitReady("s");

    // When: no container, a server that dies, a client that leaves, a full queue
    assertEquals("isolation_unavailable", bridge.call("argv", "{}").code());
    assertEquals("upstream_crashed", bridge.call("exit", "{}").code());
    bridge.awaitReady("s");
    CompletableFuture<Answer> queued;
    try (Socket client = new Socket("127.0.0.1", bridge.port())) {
      String call =
          "POST /servers/s/tools/sleep HTTP/1.1\r\nhost: 127.0.0.1\r\n"
              + "content-type: application/json\r\ncontent-length: 12\r\n\r\n{\"ms\":60000}";
      client.getOutputStream().write(call.getBytes(StandardCharsets.UTF_8));
      client.getOutputStream().flush();
      bridge.until(() -> bridge.get("/servers/s").at("/pending_calls").equals("1"));
      queued = bridge.callLater("echo", "{\"m\":1}");
      bridge.until(() -> bridge.get("/servers/s").at("/queued_calls").equals("1"));
      assertEquals(503, bridge.call("echo", "{\"m\":2}").status());
    }
    assertEquals(200, queued.get().status());

    // Then
    List<JsonNode> records = records();
    assertEquals("isolate", of(records, "call.decision").get(0).path("decision").asText());
    Map<String, String> executed = new HashMap<>();
    for (JsonNode outcome : of(records, "call.outcome")) {
      executed.put(outcome.path("code").asText("ok"), outcome.path("executed").asText());
    }
    assertEquals("no", executed.get("isolation_unavailable"), executed.toString());
    assertEquals("unknown", executed.get("upstream_crashed"), executed.toString());
    assertEquals("no", executed.get("queue_full"), executed.toString());
    assertEquals("unknown", executed.get("cancelled"), executed.toString());
    assertEquals("yes", executed.get("ok"), executed.toString());
    assertEquals(5, of(records, "call.decision").size());
    assertEquals(5, of(records, "call.outcome").size());
  }

  @Test
  void startStopServersReloadsAndPinsAreRecorded() throws Exception {
    // Given
    bridge =
        TestBridge.of(
                "{"
                    + audit("")
                    + ",'pins':{'changed':'block'},'mcpServers':{'s':"
                    + TestBridge.entry("")
                    + "}}")
            .awaitReady("s");
    String digest = bridge.get("/servers/s/pins?state=approved").at("/definitions/0/digest");
    String name = bridge.get("/servers/s/pins").at("/definitions/0/name");

    // When
    bridge.post(
        "/servers/s/pins",
        "{\"decisions\":[{\"kind\":\"tool\",\"name\":\""
            + name
            + "\",\"digest\":\""
            + digest
            + "\",\"decision\":\"block\"}]}");
    bridge.post("/servers/s/restart", "");
    bridge.post("/servers/none/restart", "");
    bridge.post("/servers", TestBridge.json("{'id':'gone','command':'/no/such/program'}"));
    bridge.put("/cluster/voters/n9", "");
    String next = "{" + audit("") + ",'pins':{'changed':'block'},'mcpServers':{}}";
    bridge.reload(next);

    // Then
    List<JsonNode> records = records();
    assertEquals("started", of(records, "bridge").get(0).path("state").asText());
    assertEquals("stopped", of(records, "bridge").get(1).path("state").asText());
    List<JsonNode> pins = of(records, "pin");
    JsonNode block = pins.get(pins.size() - 1);
    assertEquals("block", block.path("decision").asText());
    assertEquals("anonymous", block.path("principal").asText());
    for (JsonNode first : pins.subList(0, pins.size() - 1)) {
      assertEquals(
          "first_sight approve",
          first.path("source").asText() + " " + first.path("decision").asText());
    }
    assertTrue(
        pins.stream().anyMatch(each -> each.path("name").asText().equals(name)), pins.toString());
    assertEquals(1, of(records, "config").size());
    String applied = of(records, "config").get(0).path("digest").asText();
    assertEquals(Sha256.of(TestBridge.json(next)).hex(), applied);
    String before = of(records, "bridge").get(0).path("digest").asText();
    assertTrue(before.matches("[0-9a-f]{64}") && !before.equals(applied), before);
    assertEquals(
        List.of("restart s ", "restart none server_not_found", "start  start_failed"),
        of(records, "server.request").stream()
            .map(
                each ->
                    each.path("action").asText()
                        + " "
                        + each.path("server").asText()
                        + " "
                        + each.path("code").asText())
            .toList());
    JsonNode voter = of(records, "cluster.request").get(0);
    assertEquals("add-voter", voter.path("action").asText());
    assertEquals("n9", voter.path("member").asText());
    assertFalse(voter.path("code").asText().isEmpty(), voter.toString());
    assertTrue(
        of(records, "server").stream()
            .anyMatch(each -> each.path("state").asText().equals("ready")));
  }

  @Test
  void useOfKeysLogInsAndRequestsBeyondScopesAreRecorded() throws Exception {
    // Given
    start("", "");

    // When
    for (int i = 0; i < 3; i++) {
      Answer refused = bridge.post("/servers/s/restart", "", "authorization", "Bearer " + CALLER);
      assertEquals(403, refused.status());
    }
    Answer opened = bridge.post("/console/session", "", "authorization", "Bearer " + BOSS);
    String session = "Bearer " + opened.at("/token");
    assertEquals(200, bridge.get("/servers", "authorization", session).status());
    assertEquals(204, bridge.delete("/console/session", "authorization", session).status());

    // Then
    List<JsonNode> records = records();
    List<JsonNode> refused = of(records, "request");
    assertEquals(List.of(1, 2), counts(refused, "refused"));
    assertEquals("POST /servers/{server}/restart", refused.get(0).path("route").asText());
    assertEquals("caller", refused.get(0).path("principal").asText());
    assertEquals("127.0.0.1", refused.get(0).path("address").asText());
    Map<String, Integer> uses = new HashMap<>();
    of(records, "credential")
        .forEach(
            each ->
                uses.merge(
                    each.path("principal").asText(), each.path("used").asInt(), Integer::sum));
    assertEquals(Set.of("boss", "caller"), uses.keySet());
    assertEquals(3, uses.get("caller"));
    assertTrue(uses.get("boss") >= 4, uses.toString());
    for (String event : List.of("login", "logout")) {
      assertEquals(1, of(records, event).size(), event);
      assertEquals("boss", of(records, event).get(0).path("principal").asText());
      assertEquals("console", of(records, event).get(0).path("page").asText());
    }
    String all = records.toString();
    assertFalse(all.contains(CALLER) || all.contains(BOSS) || all.contains(opened.at("/token")));
  }

  @Test
  void recordedCallsAreJudgedByOtherRules() throws Exception {
    // Given
    start(",'arguments':'full'", "");
    call("echo", "{\"m\":\"/srv/a\"}");
    call("echo", "{\"m\":\"/etc/b\"}");
    call("exit", "{}");
    call("answers", "{}");
    bridge.close();

    // Then
    assertEquals(
        "4 calls: 4 the same, 0 now refused, 0 now allowed, 0 undecided\n",
        replayed(
            0,
            "{'name':'all','allow':['call']},{'name':'no-exit','deny':['call'],'tools':['exit']}"));
    String stricter =
        replayed(
            1,
            "{'name':'srv','allow':['call'],'who':{'roles':['dev']},'tools':['echo'],"
                + "'arguments':{'/m':{'under':'/srv'}}},"
                + "{'name':'exits','allow':['call'],'tools':['exit']}");
    assertTrue(
        stricter.startsWith("4 calls: 1 the same, 2 now refused, 1 now allowed, 0 undecided\n"),
        stricter);
    assertTrue(stricter.contains("now allowed by exits: caller s/exit, 1×"), stricter);
    assertTrue(stricter.contains("now refused by default: caller s/answers, 1×"), stricter);
    String byAnnotations =
        replayed(
            0,
            "{'name':'all','allow':['call']},{'name':'d','deny':['call'],"
                + "'annotations':{'destructiveHint':{'equals':true}}}");
    assertTrue(byAnnotations.contains("4 undecided"), byAnnotations);
  }

  @Test
  void reportModeTheExplanationAndTheReplayNameTheSameRule() throws Exception {
    // Given
    String rules =
        "{'name':'srv','allow':['call'],'who':{'roles':['dev']},"
            + "'tools':['echo'],'arguments':{'/m':{'under':'/srv'}}},"
            + "{'name':'no-exit','deny':['call'],'tools':['tool_*']}";
    start(",'arguments':'full'", "");
    bridge.reload(
        "{%s,%s,'access':{'mode':'report','rules':[%s]},'mcpServers':{'s':%s}}"
            .formatted(audit(",'arguments':'full'"), KEYS, rules, TestBridge.entry("")));
    List<String> questions = new ArrayList<>();

    // When
    for (String call : List.of("echo /srv/a", "echo /etc/b", "tool_error /srv/a", "answers /")) {
      String tool = call.split(" ")[0];
      String arguments = "{\"m\":\"" + call.split(" ")[1] + "\"}";
      assertEquals(200, call(tool, arguments).status());
      Answer explained =
          bridge.post(
              "/access/explain",
              "{\"server\":\"s\",\"tool\":\"" + tool + "\",\"arguments\":" + arguments + "}",
              "authorization",
              "Bearer " + CALLER);
      questions.add(explained.text());
    }
    List<JsonNode> decisions = of(records(), "call.decision");

    // Then
    assertEquals(
        List.of("", "default", "no-exit", "default"),
        decisions.stream().map(each -> each.path("would_deny").asText()).toList());
    for (int i = 1; i < questions.size(); i++) {
      String rule = decisions.get(i).path("would_deny").asText();
      assertTrue(questions.get(i).contains("\"rule\":\"" + rule + "\""), questions.get(i));
    }
    String replayed = replayed(1, rules);
    assertTrue(
        replayed.startsWith("4 calls: 1 the same, 3 now refused, 0 now allowed, 0 undecided\n"),
        replayed);
    assertTrue(replayed.contains("now refused by no-exit: caller s/tool_error, 1×"), replayed);
  }

  @Test
  void decisionHasTheTraceOfItsCall() throws Exception {
    // Given
    start("", "");
    McpClient client =
        new McpClient(bridge.uri("/mcp"), "{}", "authorization", "Bearer " + CALLER).initialized();

    // When
    client.request(
        "tools/call",
        "{\"name\":\"s__echo\",\"arguments\":{},\"_meta\":{\"traceparent\":"
            + "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"}}");

    // Then
    assertEquals(
        "0af7651916cd43dd8448eb211c80319c",
        of(records(), "call.decision").get(0).path("trace_id").asText());
  }

  @Test
  void searchPrintsTheRecordsThatMatch() throws Exception {
    // Given
    start("", "");
    call("echo", "{\"m\":1}");
    call("exit", "{}");
    call("answers", "{}");
    bridge.close();

    // Then
    List<JsonNode> echoes = found(0, "--name", "echo");
    assertEquals(
        List.of("call.decision", "call.outcome"),
        echoes.stream().map(each -> each.path("event").asText()).toList());
    assertEquals(echoes.get(0).path("call"), echoes.get(1).path("call"));
    assertEquals(1, found(0, "--decision", "refuse", "--principal", "caller").size());
    assertEquals(6, found(0, "--principal", "caller", "--server", "s").size());
    assertEquals(2, found(0, "--principal", "caller", "--event", "credential").size());
    assertEquals(2, found(0, "--event", "bridge", "--until", "2100-01-01").size());
    assertEquals(List.of(), found(1, "--principal", "stranger"));
    assertEquals(List.of(), found(1, "--since", "2100-01-01"));
    for (String time : List.of("yesterday", "+1000000000-01-01T00:00:00Z")) {
      String usage = PackagedProgram.output(2, "audit", "search", "x", "--since", time);
      assertTrue(usage.contains("expected a day"), usage);
    }
  }

  private List<JsonNode> found(int status, String... options) throws Exception {
    List<String> command =
        new ArrayList<>(List.of("audit", "search", folder.resolve("trail").toString()));
    command.addAll(List.of(options));
    List<JsonNode> records = new ArrayList<>();
    for (String line :
        PackagedProgram.output(status, command.toArray(String[]::new)).lines().toList()) {
      records.add(Json.tree(line));
    }
    return records;
  }

  private String replayed(int status, String rules) throws Exception {
    Path config = folder.resolve("new.json");
    Files.writeString(
        config, TestBridge.json("{'access':{'rules':[" + rules + "]},'mcpServers':{}}"));
    return PackagedProgram.output(
        status, "access", "replay", folder.resolve("trail").toString(), "-c", config.toString());
  }

  @Test
  void refusedKeyIsRecordedOnceAMinute() throws Exception {
    // Given
    start("", "");

    // When
    for (int i = 0; i < 5; i++) {
      assertEquals(401, bridge.get("/servers", "authorization", "Bearer wrong").status());
    }

    // Then
    List<JsonNode> refused =
        of(records(), "credential").stream().filter(each -> each.has("refused")).toList();
    assertEquals(List.of(1, 4), counts(refused, "refused")); // the second one when it was stopped
    assertEquals("127.0.0.1", refused.get(0).path("address").asText());
    assertFalse(refused.toString().contains("wrong"));
  }

  private static List<Integer> counts(List<JsonNode> records, String member) {
    return records.stream().map(each -> each.path(member).asInt()).toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void randomTrafficHasOneDecisionAndOneOutcomeForEveryCall(long seed) throws Exception {
    // Given
    start("", "'risk':{'tools':{'argv':2}}");
    Random random = new Random(seed);
    String[] key = {"authorization", "Bearer " + CALLER};
    McpClient mcp = new McpClient(bridge.uri("/servers/s/mcp"), "{}", key).initialized();
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    List<String> tools = List.of("echo", "argv", "exit", "fail", "tool_error", "none", "sleep");

    // When
    for (int i = 0; i < 60; i++) {
      String tool = tools.get(random.nextInt(tools.size()));
      switch (random.nextInt(4)) {
        case 0 -> mcp.call(tool, "{}");
        case 1 ->
            answers.add(
                bridge.postLater(
                    "/batch",
                    "{\"calls\":[{\"server\":\"s\",\"tool\":\""
                        + tool
                        + "\"},"
                        + "{\"server\":\"s\",\"tool\":\"echo\",\"arguments\":{\"m\":1}}]}",
                    key));
        case 2 -> answers.add(bridge.callLater(tool, "{\"ms\":1}", key));
        default ->
            answers.add(
                bridge.callLater(
                    tool, "{}", "prefer", "respond-async", "authorization", "Bearer " + CALLER));
      }
    }
    answers.forEach(CompletableFuture::join);
    call("echo", "{}");

    // Then
    Map<String, JsonNode> decisions = TrailFiles.decisions(records());
    assertTrue(decisions.size() > 60, decisions.toString());
  }

  @Test
  void killedBridgeLeavesAReadableTrailWithEveryAnsweredCallOfLevelTwo() throws Exception {
    // Given
    Path config = folder.resolve("bridge.json");
    Files.writeString(
        config,
        TestBridge.json(
            "{"
                + audit(",'strict':true")
                + ",'mcpServers':{'s':"
                + TestBridge.entry("'riskLevel':2")
                + "}}"));
    int answered = 0;
    try (ServedBridge served = ServedBridge.in(folder, "--config", config.toString())) {
      for (int i = 0; i < 50; i++) {
        answered += send(served, "/servers/s/tools/echo").statusCode() == 200 ? 1 : 0;
      }
      served.process().destroyForcibly().waitFor();
    }

    // Then
    AuditVerifier.Report report = AuditVerifier.verify(folder.resolve("trail"), null, null);
    assertNull(report.error());
    assertEquals(50, answered);
    assertEquals(50, of(read(), "call.decision").size());

    // When
    ServedBridge.in(folder, "--config", config.toString()).close();

    // Then
    report = AuditVerifier.verify(folder.resolve("trail"), null, null);
    assertNull(report.error());
    assertTrue(report.notes().toString().contains("ended by force"), report.toString());
    String verified =
        PackagedProgram.output(0, "audit", "verify", folder.resolve("trail").toString());
    assertTrue(verified.contains("ok: records 1 to"), verified);
    String log = Files.readString(folder.resolve("err"));
    String head = Files.readString(folder.resolve("trail/audit.head")).strip();
    assertTrue(log.contains("audit checkpoint " + head), log);
  }

  /** The promise is 20 ms; the rest is for a machine that is busy with other tests. */
  @Test
  void bridgeThatIsKilledUnderLoadHasTheRecordsOfAllButItsLastCalls() throws Exception {
    // Given
    Path config = folder.resolve("bridge.json");
    Files.writeString(
        config,
        TestBridge.json(
            "{"
                + audit(",'arguments':'full'")
                + ",'mcpServers':{'s':"
                + TestBridge.entry("")
                + "}}"));
    Map<Integer, Long> answered = new ConcurrentHashMap<>();
    AtomicInteger next = new AtomicInteger();
    CountDownLatch enough = new CountDownLatch(1_000);
    ExecutorService pool = Executors.newFixedThreadPool(8);
    long killed;

    // When
    try (ServedBridge served = ServedBridge.in(folder, "--config", config.toString())) {
      for (int i = 0; i < 8; i++) {
        pool.execute(() -> callUntilItFails(served, next, answered, enough));
      }
      assertTrue(enough.await(60, TimeUnit.SECONDS));
      killed = System.nanoTime();
      served.process().destroyForcibly().waitFor();
      pool.shutdown();
      assertTrue(pool.awaitTermination(30, TimeUnit.SECONDS));
    }

    // Then
    assertNull(AuditVerifier.verify(folder.resolve("trail"), null, null).error());
    Set<String> outcomes =
        of(read(), "call.outcome").stream()
            .map(each -> each.path("call").asText())
            .collect(Collectors.toSet());
    Set<Integer> recorded =
        of(read(), "call.decision").stream()
            .filter(each -> outcomes.contains(each.path("call").asText()))
            .map(each -> each.at("/arguments/n").asInt())
            .collect(Collectors.toSet());
    answered.forEach(
        (n, nanos) ->
            assertTrue(
                recorded.contains(n) || killed - nanos < TimeUnit.MILLISECONDS.toNanos(500),
                n + " was answered " + (killed - nanos) / 1_000_000 + " ms before"));
    assertTrue(recorded.size() > 500, recorded.size() + " records");
  }

  private static void callUntilItFails(
      ServedBridge served, AtomicInteger next, Map<Integer, Long> answered, CountDownLatch enough) {
    HttpClient client = HttpClient.newHttpClient();
    try {
      while (true) {
        int n = next.getAndIncrement();
        HttpRequest call =
            HttpRequest.newBuilder(URI.create(served.url() + "/servers/s/tools/echo"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"n\":" + n + "}"))
                .build();
        if (client.send(call, HttpResponse.BodyHandlers.discarding()).statusCode() == 200) {
          answered.put(n, System.nanoTime());
          enough.countDown();
        }
      }
    } catch (IOException e) {
      // it is killed
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static HttpResponse<String> send(ServedBridge served, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(served.url() + path))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"refuse", "warn"})
  void diskThatIsFullDoesWhatWasConfiguredAndTheBridgeLives(String onFailure) throws Exception {
    // Given
    Path config = folder.resolve("bridge.json");
    Files.writeString(
        config,
        TestBridge.json(
            "{"
                + audit(",'arguments':'full','onFailure':'" + onFailure + "'")
                + ",'mcpServers':{'s':"
                + TestBridge.entry("")
                + "}}"));
    List<String> limited =
        new ArrayList<>(List.of("bash", "-c", "ulimit -S -f 64; exec \"$@\"", "bash"));
    limited.addAll(ServedBridge.command("--config", config.toString()));
    ProcessBuilder program =
        new ProcessBuilder(limited)
            .directory(folder.toFile())
            .redirectError(folder.resolve("err").toFile());

    try (ServedBridge served = ServedBridge.from(program)) {
      // When
      HttpResponse<String> last = send(served, "/servers/s/tools/echo");
      for (int i = 0; i < 400 && last.statusCode() == 200; i++) {
        last = send(served, "/servers/s/tools/echo");
      }

      // Then
      if (onFailure.equals("refuse")) {
        assertEquals(503, last.statusCode(), last.body());
        assertTrue(last.body().contains("audit_unavailable"), last.body());
        assertTrue(last.body().contains("\"executed\":\"no\""), last.body());
      } else {
        assertEquals(200, last.statusCode(), last.body());
      }

      // When
      String pid = Long.toString(served.process().pid());
      new ProcessBuilder("prlimit", "--pid", pid, "--fsize=unlimited").start().waitFor();

      // Then
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (send(served, "/servers/s/tools/echo").statusCode() != 200) {
        assertTrue(System.nanoTime() < deadline, "calls are still refused");
      }
      boolean hasLost = !metrics(served).contains("mcp_bridge_audit_lost_records_total 0.0");
      assertEquals(onFailure.equals("warn"), hasLost);
    }
    AuditVerifier.Report report = AuditVerifier.verify(folder.resolve("trail"), null, null);
    assertNull(report.error());
    assertEquals(onFailure.equals("warn"), !of(read(), "gap").isEmpty());
  }

  private static String metrics(ServedBridge served) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(served.url() + "/metrics")).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void secondBridgeDoesNotWriteTheSameTrail() throws Exception {
    start("", "");

    Exception refused =
        assertThrows(
            Exception.class, () -> TestBridge.of("{" + audit("") + ",'mcpServers':{}}").close());

    assertTrue(refused.toString().contains("another bridge writes"), refused.toString());
  }
}
