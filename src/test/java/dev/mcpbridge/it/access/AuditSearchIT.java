package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.StuckFile;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TrailFiles;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** GET /audit, and the export for other systems. */
@Tag("access")
class AuditSearchIT {
  private static final String CALLER = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final String AUDITOR = ApiKeys.generate();
  private static final String OTHER_AUDITOR = ApiKeys.generate();

  @TempDir private Path folder;
  @AutoClose private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    bridge =
        TestBridge.of(
            "{'audit':{'folder':'"
                + folder
                + "','arguments':'full'},'risk':{'expiry':0.3},"
                + TestBridge.auth(
                    TestBridge.key("caller", CALLER, "'read','call'"),
                    TestBridge.key("boss", BOSS, "'read','call','approve','admin'"),
                    TestBridge.key("auditor", AUDITOR, "'audit'"),
                    TestBridge.key("other", OTHER_AUDITOR, "'audit'"))
                + ",'access':{'conceal':'all','explain':'brief','rules':["
                + "{'name':'all','allow':['call'],'servers':['s']},"
                + "{'name':'no-exit','deny':['call'],'tools':['exit']}]}"
                + ",'mcpServers':{'s':"
                + TestBridge.entry("'risk':{'tools':{'argv':2}}")
                + ",'hidden':"
                + TestBridge.entry("")
                + "}}");
    for (String server : List.of("s", "hidden")) {
      bridge.until(() -> as(BOSS, "/servers/" + server).at("/state").equals("ready"));
    }
    bridge.until(() -> call("s", "echo").status() == 200);
  }

  private Answer as(String key, String path) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + key);
  }

  private Answer call(String server, String tool) throws Exception {
    return bridge.post(
        "/servers/" + server + "/tools/" + tool, "{}", "authorization", "Bearer " + CALLER);
  }

  /** Records are written within a millisecond; a search may come before it. */
  private List<JsonNode> found(String query, int atLeast) throws Exception {
    List<JsonNode> records = new ArrayList<>();
    bridge.until(
        () -> {
          records.clear();
          as(AUDITOR, "/audit?" + query).body().path("records").forEach(records::add);
          return records.size() >= atLeast;
        });
    return records;
  }

  @Test
  void searchNeedsTheScopeAudit() throws Exception {
    assertEquals(403, as(BOSS, "/audit").status());
    assertEquals(403, as(CALLER, "/audit").status());
    assertEquals(401, bridge.get("/audit").status());
    assertEquals(200, as(AUDITOR, "/audit").status());
    assertEquals(403, as(AUDITOR, "/servers").status());
    assertEquals("auditor", found("event=audit.read", 1).get(0).path("principal").asText());
  }

  @Test
  void recordsOfACallAreFoundTheNewestFirst() throws Exception {
    call("s", "tool_error");

    List<JsonNode> records = found("name=tool_error&principal=caller", 2);

    assertEquals(2, records.size());
    assertEquals("tool_error", records.get(0).path("outcome").asText());
    assertEquals("allow", records.get(1).path("decision").asText());
    String call = records.get(0).path("call").asText();
    assertEquals(records, found("call=" + call, 2));
    assertEquals(List.of(), found("name=tool_error&principal=boss", 0));
    assertEquals(List.of(), found("name=tool_error&until=2020-01-01", 0));
  }

  @Test
  void pagesHaveEachRecordOnce() throws Exception {
    for (int i = 0; i < 5; i++) {
      call("s", "answers");
    }
    List<JsonNode> whole = found("name=answers", 10);

    List<JsonNode> paged = new ArrayList<>();
    String cursor = "";
    do {
      Answer page = as(AUDITOR, "/audit?name=answers&limit=3" + cursor);
      assertTrue(page.body().path("records").size() <= 3, page.toString());
      page.body().path("records").forEach(paged::add);
      cursor = page.body().has("nextCursor") ? "&cursor=" + page.at("/nextCursor") : "";
    } while (!cursor.isEmpty());

    assertEquals(whole, paged);
  }

  @Test
  void concealedRefusalsHaveTheirRule() throws Exception {
    assertEquals("tool_not_found", call("s", "exit").code());
    assertEquals("server_not_found", call("hidden", "echo").code());
    assertEquals("tool_not_found", call("s", "no_such_tool").code());

    assertEquals("no-exit", rule("name=exit"));
    assertEquals("default", rule("server=hidden"));
    assertEquals("", rule("name=no_such_tool"));
  }

  /** The same question for a tool, a prompt or a resource at doors that find it by a name. */
  @ParameterizedTest
  @ValueSource(strings = {"session", "stateless", "lean", "toolcall", "lean toolcall"})
  void concealedRefusalHasItsRuleAtEveryDoorAndItsCallerLearnsNothing(String door)
      throws Exception {
    String unknown = asked(door, "s__exiz");

    assertTrue(unknown.contains("exiz"), unknown);
    assertEquals(unknown.replace("exiz", "exit"), asked(door, "s__exit"));
    assertEquals(unknown.replace("s__exiz", "hidden__echo"), asked(door, "hidden__echo"));

    assertEquals("no-exit", rule("name=exit"));
    assertEquals("default", rule("server=hidden"));
    assertEquals(List.of(), found("name=exiz", 0));
    assertEquals(idsTakenBy(door, "s__exiz"), idsTakenBy(door, "s__exit"));
    String calls = as(CALLER, "/calls").text();
    assertFalse(calls.contains("exit") || calls.contains("hidden"), calls);
  }

  /** Its name at the server is the name of a listed tool, which is not concealed. */
  @Test
  void visibleToolThatAModelCallsByItsOwnNameIsJudgedOnce(@TempDir Path trail) throws Exception {
    String config =
        "{'audit':{'folder':'%s'},'access':{'conceal':'all','rules':[{'name':'all','allow':['call']},"
            + "{'name':'no-etc','deny':['call'],'arguments':{'/m':{'under':'/etc'}}},"
            + "{'name':'no-exit','deny':['list'],'tools':['exit']}]},'mcpServers':{'s':%s}}";
    try (TestBridge single =
        TestBridge.of(config.formatted(trail, TestBridge.entry(""))).awaitReady("s")) {
      Answer refused =
          single.post(
              "/toolcall",
              ModelFormat.OPENAI_CHAT.turn(ModelFormat.call("1", "echo", "{\"m\":\"/etc/x\"}")));
      assertEquals("404", refused.at("/tool_responses/0/status"), refused.toString());

      single.until(() -> !TrailFiles.of(TrailFiles.records(trail), "call.outcome").isEmpty());
    }
    assertEquals(1, TrailFiles.decisions(TrailFiles.records(trail)).size());
  }

  /** How many ids of calls a question takes, which later ids would tell its caller. */
  private long idsTakenBy(String door, String tool) throws Exception {
    long before = lastId();
    asked(door, tool);
    return lastId() - before;
  }

  private long lastId() throws Exception {
    String id = call("s", "no_such_tool").at("/requestId");
    return Long.parseLong(id.substring(id.indexOf('-') + 1), 36);
  }

  @Test
  void concealedPromptsAndResourcesHaveTheRuleOfTheirRefusal() throws Exception {
    McpClient client = client("/mcp").initialized();

    String prompts = "{\"name\":\"%s\"}";
    assertEquals(
        error(client.request("prompts/get", prompts.formatted("none")))
            .replace("none", "hidden__greet"),
        error(client.request("prompts/get", prompts.formatted("hidden__greet"))));
    assertEquals(404, client.request("resources/read", "{\"uri\":\"test://a b%25\"}").errorCode());

    assertEquals("default", rule("server=hidden&name=greet"));
    assertEquals("default", rule("name=test%3A%2F%2Fa%20b%2525"));
  }

  private static String error(McpClient.Reply refused) {
    assertEquals(-32602, refused.errorCode());
    return refused.last().path("error").toString();
  }

  private McpClient client(String path) {
    return new McpClient(bridge.uri(path), "{}", "authorization", "Bearer " + CALLER);
  }

  /** What a door says of a tool. */
  private String asked(String door, String tool) throws Exception {
    String lean = "{\"name\":\"" + tool + "\",\"arguments\":{}}";
    String turn =
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
            + "\"function\":{\"name\":\"%s\",\"arguments\":%s}}]}";
    String[] credential = {"authorization", "Bearer " + CALLER};
    return switch (door) {
      case "session" -> client("/mcp").initialized().call(tool, "{}").text();
      case "stateless" ->
          client("/mcp")
              .stateless("tools/call", "\"name\":\"" + tool + "\",\"arguments\":{}")
              .text();
      case "lean" -> client("/mcp?discovery=search").initialized().call("call_tool", lean).text();
      case "toolcall" ->
          bridge
              .post("/toolcall", turn.formatted(tool, "\"{}\""), credential)
              .text()
              .replaceAll("requestId\":\"[^\"]*", "");
      default ->
          bridge
              .post(
                  "/toolcall?discovery=search",
                  turn.formatted("call_tool", Json.mapper().writeValueAsString(lean)),
                  credential)
              .text()
              .replaceAll("requestId\":\"[^\"]*", "");
    };
  }

  private String rule(String query) throws Exception {
    return found(query + "&event=call.decision", 1).get(0).path("rule").asText();
  }

  @Test
  void confirmationThatExpiresIsRecorded() throws Exception {
    String id = call("s", "argv").at("/confirmation_id");

    JsonNode expired = found("event=confirmation", 1).get(0);

    assertEquals("expire", expired.path("decision").asText());
    assertEquals(id, expired.path("confirmation").asText());
    assertEquals("caller", expired.path("principal").asText());
    List<JsonNode> all = found("confirmation=" + id, 2);
    assertEquals(
        List.of("confirmation", "call.outcome"),
        all.stream().map(each -> each.path("event").asText()).toList());
  }

  @Test
  void recordsOfATraceAndOfADoorAreFound() throws Exception {
    String trace = "0af7651916cd43dd8448eb211c80319c";
    bridge.post(
        "/servers/s/tools/answers",
        "{}",
        "authorization",
        "Bearer " + CALLER,
        "traceparent",
        "00-" + trace + "-b7ad6b7169203331-01");

    assertEquals("answers", found("trace_id=" + trace, 1).get(0).path("name").asText());
    assertEquals(1, found("name=answers&door=rest", 1).size());
    assertEquals(List.of(), found("name=answers&door=mcp", 0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limit=0",
        "limit=1001",
        "since=yesterday",
        "until=2026-13-01",
        "cursor=x",
        "cursor=bm8",
        "cursor=NQ",
        "cursor=e30",
        "name=a&name=b",
        "server=",
        "principal="
      })
  void badQueriesAreRefused(String query) throws Exception {
    Answer answer = as(AUDITOR, "/audit?" + query);

    assertEquals(400, answer.status(), answer.toString());
    assertEquals("malformed_request", answer.code());
  }

  /**
   * Numbers that few parsers accept, many tokens, blanks, and escapes that could be written anew.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"m\":1e-99999999999}",
        "{\"m\":0e2147483648}",
        "{\"m\":1E5,\"n\":-0,\"o\":1.10}",
        "{ \"m\" :\n [1,\r\n\t2] }",
        "{\"m\":\"\\u202e\\/\\ud83d\\ude00 \u202e\"}"
      })
  void recordsAreFoundByteForByte(String arguments) throws Exception {
    Answer answer =
        bridge.post("/servers/s/tools/echo", arguments, "authorization", "Bearer " + CALLER);
    assertEquals(200, answer.status(), answer.toString());
    String call = found("name=echo&event=call.outcome&limit=1", 1).get(0).path("call").asText();

    String page = as(AUDITOR, "/audit?event=call.decision&call=" + call).text();

    String line = line("\"event\":\"call.decision\",\"call\":\"" + call + "\"");
    assertTrue(page.contains(line), page + "\n" + line);
    assertTrue(line.contains("\"arguments\":{"), line);
  }

  private String line(String part) throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".jsonl")).toList()) {
        for (String line : Files.readAllLines(file)) {
          if (line.contains(part)) {
            return line;
          }
        }
      }
    }
    throw new AssertionError("no line with " + part);
  }

  @Test
  void largeArgumentsWithManyTokensAreFoundInPages() throws Exception {
    String arguments = "{\"m\":[" + "0,".repeat(32_000) + "0]}";
    for (int i = 0; i < 40; i++) {
      assertEquals(
          200,
          bridge
              .post("/servers/s/tools/echo", arguments, "authorization", "Bearer " + CALLER)
              .status());
    }

    String query = "/audit?event=call.decision&name=echo";
    Answer first = as(AUDITOR, query);
    assertEquals(200, first.status());
    String cursor = first.text().replaceAll("(?s).*\"nextCursor\":\"([^\"]+)\".*", "$1");
    Answer second = as(AUDITOR, query + "&cursor=" + cursor);
    assertEquals(200, second.status());
    int all = (first.text() + second.text()).split("\"event\":\"call.decision\"").length - 1;
    assertTrue(all > 39, all + " records");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void greedyCallerLeavesSearchesForOthersAndAClientThatLeavesHoldsNone() throws Exception {
    // Given: a trail of which a file cannot be read for a while
    StuckFile stuck = StuckFile.at(folder.resolve("audit-000000000000.jsonl"));
    List<CompletableFuture<Answer>> searches = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      searches.add(searchLater(AUDITOR));
    }
    CompletableFuture.anyOf(searches.toArray(CompletableFuture[]::new)).get();
    CompletableFuture<Answer> refused =
        searches.stream().filter(CompletableFuture::isDone).findFirst().orElseThrow();
    assertEquals("rate_limited", refused.get().code());
    searches.remove(refused);

    // When
    CompletableFuture<Answer> other = searchLater(OTHER_AUDITOR);
    searches.remove(0).cancel(true);
    assertEquals(200, call("s", "echo").status());
    assertEquals("rate_limited", as(AUDITOR, "/audit?name=none").code());
    Files.move(stuck.path(), folder.resolve("elsewhere"));
    new StuckFile(folder.resolve("elsewhere")).release();

    // Then
    assertEquals(200, other.get().status());
    for (CompletableFuture<Answer> search : searches) {
      assertEquals(200, search.get().status());
    }
    bridge.until(() -> as(AUDITOR, "/audit?name=none").status() == 200);
  }

  private CompletableFuture<Answer> searchLater(String key) {
    return bridge.getLater("/audit?name=none", "authorization", "Bearer " + key);
  }

  @Test
  void trailThatCannotBeReadFailsTheSearchOnly() throws Exception {
    Files.writeString(folder.resolve("audit-000000000000.jsonl"), "no record\n");

    Answer answer = as(AUDITOR, "/audit?name=none");

    assertEquals(500, answer.status(), answer.toString());
    assertTrue(answer.at("/detail").contains("audit verify"), answer.toString());
    assertEquals(200, call("s", "echo").status());
    Files.delete(folder.resolve("audit-000000000000.jsonl"));
    assertEquals(200, as(AUDITOR, "/audit?name=none").status());
  }

  @Test
  void concealedRefusalsAreJudgedAgain() throws Exception {
    call("s", "exit");
    call("hidden", "echo");
    found("event=call.decision&decision=refuse", 2);
    Path rules = folder.resolve("rules.json");
    Files.writeString(
        rules,
        TestBridge.json("{'access':{'rules':[{'name':'all','allow':['call']}]},'mcpServers':{}}"));

    String replayed =
        PackagedProgram.output(1, "access", "replay", folder.toString(), "-c", rules.toString());

    assertTrue(replayed.contains("2 now allowed"), replayed);
  }

  @Test
  void bridgeWithoutATrailSaysSo() throws Exception {
    try (TestBridge other = TestBridge.of("{'mcpServers':{}}")) {
      assertEquals(404, other.get("/audit").status());
      assertEquals("not_found", other.get("/audit").code());
    }
  }

  @Test
  void lagAndLossesAreMetrics() throws Exception {
    String page = as(BOSS, "/metrics").text();

    assertTrue(page.contains("mcp_bridge_audit_lag_records "), page);
    assertTrue(page.contains("mcp_bridge_audit_lost_records_total 0.0"), page);
  }

  @Test
  void recordsAreExportedAsOcsfEvents() throws Exception {
    call("s", "exit");
    found("name=exit", 2);
    List<JsonNode> events = new ArrayList<>();
    String exported =
        PackagedProgram.output(0, "audit", "export", folder.toString(), "--format", "ocsf");
    for (String line : exported.lines().toList()) {
      events.add(Json.tree(line));
    }

    JsonNode refused =
        events.stream()
            .filter(each -> each.path("raw_data").asText().contains("\"decision\":\"refuse\""))
            .findFirst()
            .orElseThrow();
    assertEquals(6003, refused.path("class_uid").asInt());
    assertEquals(600399, refused.path("type_uid").asInt());
    assertEquals(2, refused.path("action_id").asInt());
    assertEquals(2, refused.path("status_id").asInt());
    assertEquals("caller", refused.at("/actor/user/uid").asText());
    assertEquals("no-exit", refused.at("/actor/authorizations/0/policy/name").asText());
    assertEquals("exit", refused.at("/api/operation").asText());
    assertEquals("s", refused.at("/api/service/name").asText());
    for (JsonNode event : events) {
      assertTrue(event.path("time").isIntegralNumber());
      assertEquals(
          event.path("type_uid").asInt(),
          event.path("class_uid").asInt() * 100 + event.path("activity_id").asInt());
      assertEquals(event.path("class_uid").asInt() / 1000, event.path("category_uid").asInt());
    }
    assertFalse(events.stream().allMatch(each -> each.path("class_uid").asInt() == 6003));
  }

  @Test
  void exportedLinesAreThoseOfTheTrail() throws Exception {
    call("s", "exit");
    found("name=exit", 2);

    List<String> written = TrailFiles.lines(folder);

    String exported = PackagedProgram.output(0, "audit", "export", folder.toString());

    List<String> lines = exported.lines().toList();
    assertEquals(written, lines.subList(0, written.size()));
    assertTrue(written.toString().contains("\"decision\":\"refuse\""), written.toString());
  }
}
