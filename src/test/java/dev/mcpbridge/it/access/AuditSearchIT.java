package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** GET /audit, and the export for other systems. */
@Tag("access")
class AuditSearchIT {
  private static final String CALLER = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final String AUDITOR = ApiKeys.generate();

  @TempDir private Path folder;
  @AutoClose private TestBridge bridge;

  @BeforeEach
  void start() throws Exception {
    bridge =
        TestBridge.of(
            "{'audit':{'folder':'"
                + folder
                + "'},'risk':{'expiry':0.3},"
                + TestBridge.auth(
                    TestBridge.key("caller", CALLER, "'read','call'"),
                    TestBridge.key("boss", BOSS, "'read','call','approve','admin'"),
                    TestBridge.key("auditor", AUDITOR, "'audit'"))
                + ",'access':{'conceal':'all','explain':'brief','rules':["
                + "{'name':'all','allow':['call'],'servers':['s']},"
                + "{'name':'no-exit','deny':['call'],'tools':['exit']}]}"
                + ",'mcpServers':{'s':"
                + TestBridge.entry("'risk':{'tools':{'argv':2}}")
                + ",'hidden':"
                + TestBridge.entry("")
                + "}}");
    bridge.until(() -> as(BOSS, "/servers/s").at("/state").equals("ready"));
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
        "name=a&name=b"
      })
  void badQueriesAreRefused(String query) throws Exception {
    Answer answer = as(AUDITOR, "/audit?" + query);

    assertEquals(400, answer.status(), answer.toString());
    assertEquals("malformed_request", answer.code());
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
    Process program =
        new ProcessBuilder(
                PackagedProgram.command("audit", "export", folder.toString(), "--format", "ocsf"))
            .redirectErrorStream(true)
            .start();
    for (String line :
        new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList()) {
      events.add(Json.tree(line));
    }

    assertEquals(0, program.waitFor());
    JsonNode refused =
        events.stream()
            .filter(each -> each.at("/unmapped/decision").asText().equals("refuse"))
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
}
