package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.OwnProcess;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an approval covers, and who receives the result of an approved call. */
@Tag("access")
class ApprovalsIT {
  private static final String CALLER = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final String KEYS =
      TestBridge.auth(
              TestBridge.key("caller", CALLER, "'read','call'"),
              TestBridge.key("boss", BOSS, "'read','call','approve'"))
          + ",";

  /** The same keys; that of the caller may no longer call. */
  private static final String LESS =
      TestBridge.auth(
              TestBridge.key("caller", CALLER, "'read'"),
              TestBridge.key("boss", BOSS, "'read','call','approve'"))
          + ",";

  private static final String RISK = "'risk':{'tools':{'big':2,'sleep':2}}";
  private static final String SERVERS = "'mcpServers':{'s':" + TestBridge.entry(RISK) + "}}";
  private static final String OPERATOR = "'risk':{'approver':'operator'},";
  private static final String YES = "{\"confirm\":true}";
  private static final String PARAMS = "{\"name\":\"s__big\",\"arguments\":{\"size\":1},";

  private static TestBridge open(String config) throws Exception {
    TestBridge bridge = TestBridge.of("{" + config);
    bridge.until(() -> bridge.get("/servers/s", "x-api-key", BOSS).text().contains("\"ready\""));
    return bridge;
  }

  @Test
  void aConfirmationCoversAllThatReachesTheServer() throws Exception {
    try (TestBridge bridge = open(SERVERS)) {
      List<String> messages = new ArrayList<>();
      McpClient client =
          new McpClient(bridge.uri("/mcp"), "{\"elicitation\":{}}")
              .withRequestHandler(
                  request -> {
                    messages.add(request.at("/params/message").asText());
                    return "{\"action\":\"decline\"}";
                  });
      client.initialize();
      McpClient clientWithoutForms = new McpClient(bridge.uri("/mcp"), "{}").initialized();
      String tenant =
          "\"_meta\":{\"acme/tenant\":\"%s\",\"progressToken\":%d,\"traceparent\":\"00\"}";

      client.request("tools/call", PARAMS + "\"priority\":7," + tenant.formatted("root", 1) + "}");
      for (String meta : List.of(tenant.formatted("root", 2), tenant.formatted("guest", 3))) {
        clientWithoutForms.request("tools/call", PARAMS + meta + "}");
      }
      clientWithoutForms.request("tools/call", PARAMS + tenant.formatted("root", 4) + "}");

      assertTrue(messages.get(0).contains("{\"acme/tenant\":\"root\"}"), messages.get(0));
      assertTrue(messages.get(0).contains("{\"priority\":7}"), messages.get(0));
      assertFalse(messages.get(0).contains("traceparent"), messages.get(0));
      JsonNode listed = bridge.get("/confirmations").body().path("confirmations");
      assertEquals("root", listed.at("/0/_meta/acme~1tenant").asText());
      assertEquals(1, listed.at("/0/_meta").size(), listed.toString());
      assertEquals(3, listed.size());
      assertNotEquals(listed.at("/0/digest"), listed.at("/1/digest"));
      assertEquals(
          List.of("guest", "root", "root"),
          listed
              .valueStream()
              .map(each -> each.at("/_meta/acme~1tenant").asText())
              .sorted()
              .toList());
      assertEquals(
          2, listed.valueStream().map(each -> each.path("digest").asText()).distinct().count());
    }
  }

  /** A caller could fill the memory with calls that it confirms or rejects itself. */
  @Test
  void decidedConfirmationsKeepNoArguments() throws Exception {
    String servers = "'mcpServers':{'s':" + TestBridge.entry("'riskLevel':2") + "}}";
    try (TestBridge bridge = open(servers)) {
      String arguments = "{\"m\":\"" + "x".repeat(1 << 20) + "\"}";
      createAndReject(bridge, arguments, 5);
      long before = OwnProcess.heap();

      createAndReject(bridge, arguments, 60);

      long grown = OwnProcess.heap() - before;
      assertTrue(grown < 20 << 20, "the heap grew by " + grown);
    }
  }

  private static void createAndReject(TestBridge bridge, String arguments, int times)
      throws Exception {
    for (int i = 0; i < times; i++) {
      Answer held = bridge.call("echo", arguments);
      String no = "{\"confirm\":false,\"token\":\"" + held.at("/token") + "\"}";
      assertEquals(200, bridge.post(path(held), no).status());
    }
  }

  @ParameterizedTest
  @CsvSource({"fail, {}", "'exit', '{\"code\":3}'", "never, {}"})
  void approvalOfACallThatFailsIsUsedUp(String tool, String arguments) throws Exception {
    String entry = TestBridge.entry("'riskLevel':2,'timeout':2");
    try (TestBridge bridge = open("'mcpServers':{'s':" + entry + "}}")) {
      Answer held = bridge.call(tool, arguments);
      String yes = "{\"confirm\":true,\"token\":\"" + held.at("/token") + "\"}";

      int first = bridge.post(path(held), yes).status();

      assertTrue(first == 500 || first == 502 || first == 504, "status " + first);
      bridge.awaitReady("s");
      Answer again = bridge.post(path(held), yes);
      assertEquals(404, again.status(), again.toString());
      assertTrue(again.at("/detail").contains("already decided"), again.toString());
    }
  }

  @Test
  void anApprovalIsBoundToTheServersProgram() throws Exception {
    try (TestBridge bridge = open(SERVERS)) {
      Answer confirmation = bridge.call("big", "{\"size\":1}");

      bridge.reload(
          "{'mcpServers':{'s':" + TestBridge.entry(RISK + ",'env':{'ANOTHER':'program'}") + "}}");
      bridge.awaitReady("s");

      String yes = "{\"confirm\":true,\"token\":\"" + confirmation.at("/token") + "\"}";
      Answer refused = bridge.post(path(confirmation), yes);
      assertEquals("tool_changed", refused.code());
      assertEquals("no", refused.at("/executed"));

      Answer again = bridge.call("big", "{\"size\":1}");
      bridge.reload(
          "{'mcpServers':{'s':%s}}"
              .formatted(TestBridge.entry(RISK + ",'env':{'ANOTHER':'program'},'timeout':50")));
      bridge.awaitReady("s");
      yes = "{\"confirm\":true,\"token\":\"" + again.at("/token") + "\"}";
      assertEquals("x", bridge.post(path(again), yes).firstText());
    }
  }

  @Test
  void theCallerFetchesTheResultOfAnApprovedCall() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      Answer confirmation = bridge.call("big", "{\"size\":1}", "x-api-key", CALLER);
      assertEquals("pending", status(bridge, confirmation, CALLER).path("status").asText());

      CompletableFuture<Answer> waiting =
          bridge
              .client()
              .sendAsync(
                  java.net.http.HttpRequest.newBuilder(bridge.uri(path(confirmation)))
                      .header("x-api-key", CALLER)
                      .header("prefer", "wait=20")
                      .build(),
                  java.net.http.HttpResponse.BodyHandlers.ofString())
              .thenApply(r -> new Answer(r.statusCode(), r.body(), r));
      Answer approved = bridge.post(path(confirmation), YES, "x-api-key", BOSS);

      JsonNode waited = waiting.get(20, TimeUnit.SECONDS).body();
      assertEquals(approved.body(), waited.path("result"));
      assertEquals("done", waited.path("status").asText());
      assertEquals(200, waited.path("http_status").asInt());
      JsonNode later = status(bridge, confirmation, CALLER);
      assertEquals(approved.body(), later.path("result"));
      assertFalse(later.path("requires_confirmation").asBoolean());
      assertFalse(status(bridge, confirmation, BOSS).has("result"));
      assertEquals("yes", status(bridge, confirmation, BOSS).path("executed").asText());
    }
  }

  @Test
  void aWaitingCallReceivesTheOperatorsDecision() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      CompletableFuture<Answer> first = waiting(bridge);
      String id = pending(bridge);
      bridge.post("/confirmations/" + id, YES, "x-api-key", BOSS);
      Answer answered = first.get(20, TimeUnit.SECONDS);
      assertEquals(200, answered.status(), answered.toString());
      assertEquals("x", answered.firstText());

      CompletableFuture<Answer> second = waiting(bridge);
      String other = pending(bridge);
      bridge.post("/confirmations/" + other, "{\"confirm\":false}", "x-api-key", BOSS);
      Answer rejected = second.get(20, TimeUnit.SECONDS);
      assertEquals(403, rejected.status(), rejected.toString());
      Answer shown = bridge.get("/confirmations/" + other, "x-api-key", CALLER);
      assertEquals("rejected", shown.at("/status"));
    }
  }

  private static CompletableFuture<Answer> waiting(TestBridge bridge) {
    return bridge.callLater("big", "{\"size\":1}", "x-api-key", CALLER, "prefer", "wait=20");
  }

  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void anMcpCallWithProgressWaitsForTheOperator(boolean approves, boolean isStateless)
      throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      EraClient client =
          EraClient.to(bridge.uri("/mcp"), isStateless, "s__", "{}", "x-api-key", CALLER);
      CompletableFuture<Reply> waiting =
          Background.call(() -> client.call("big", "{\"size\":1}", "\"progressToken\":1"));

      String id = pending(bridge);
      bridge.post("/confirmations/" + id, "{\"confirm\":" + approves + "}", "x-api-key", BOSS);

      Reply reply = waiting.get(20, TimeUnit.SECONDS);
      assertEquals(!approves, reply.result().path("isError").asBoolean(), reply.text());
      assertEquals(approves ? "x" : "The call was rejected by a human", reply.firstText());
      assertFalse(reply.notifications("notifications/progress").isEmpty(), reply.text());
    }
  }

  @Test
  void aCallContinuesAfterItsApproverDisconnects() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      Answer confirmation = bridge.call("sleep", "{\"ms\":1500}", "x-api-key", CALLER);
      CompletableFuture<Answer> approval =
          bridge.postLater(path(confirmation), YES, "x-api-key", BOSS);
      bridge.until(
          () -> status(bridge, confirmation, CALLER).path("status").asText().equals("running"));

      approval.cancel(true);

      bridge.until(
          () -> status(bridge, confirmation, CALLER).path("status").asText().equals("done"));
      assertEquals(
          "slept", status(bridge, confirmation, CALLER).at("/result/content/0/text").asText());
    }
  }

  @Test
  void theTokenIsHiddenFromModelsAndNotNeededByApprovers() throws Exception {
    try (CapturedLog log = new CapturedLog();
        TestBridge bridge = open(KEYS + SERVERS)) {
      McpClient client = new McpClient(bridge.uri("/mcp"), "{}", "x-api-key", CALLER).initialized();

      Reply explained = client.request("tools/call", PARAMS + "\"_meta\":{}}");

      String id = pending(bridge);
      assertFalse(explained.text().contains(log.token(id)), explained.text());
      assertTrue(explained.firstText().contains("mcp-bridge confirm " + id), explained.firstText());
      assertEquals(
          "wrong_token", bridge.post("/confirmations/" + id, YES, "x-api-key", CALLER).code());
      assertEquals("x", bridge.post("/confirmations/" + id, YES, "x-api-key", BOSS).firstText());
      JsonNode fetched = bridge.get("/confirmations/" + id, "x-api-key", CALLER).body();
      assertEquals("x", fetched.at("/result/content/0/text").asText());
    }
  }

  @Test
  void anUndecidedConfirmationExpires() throws Exception {
    try (TestBridge bridge = open(KEYS + "'risk':{'approver':'operator','expiry':3}," + SERVERS)) {
      CompletableFuture<Answer> call = waiting(bridge);
      String id = pending(bridge);

      Answer expired = call.get(20, TimeUnit.SECONDS);

      assertEquals(410, expired.status(), expired.toString());
      Answer shown = bridge.get("/confirmations/" + id, "x-api-key", CALLER);
      assertEquals("expired", shown.at("/status"), shown.toString());
      assertEquals(410, bridge.post("/confirmations/" + id, YES, "x-api-key", BOSS).status());
    }
  }

  @Test
  void approvedCallOfAKeyThatMayNoLongerCallIsNotRun() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      Answer control = bridge.call("big", "{\"size\":1}", "x-api-key", CALLER);
      Answer held = bridge.call("big", "{\"size\":2}", "x-api-key", CALLER);
      assertEquals("x", bridge.post(path(control), YES, "x-api-key", BOSS).firstText());
      bridge.reload("{" + LESS + OPERATOR + SERVERS);

      Answer refused = bridge.post(path(held), YES, "x-api-key", BOSS);

      assertEquals("forbidden", refused.code(), refused.toString());
      assertEquals("no", refused.at("/executed"));
    }
  }

  @Test
  void callOfABatchThatWaitsIsNotRunIfItsKeyMayNoLongerCall() throws Exception {
    String servers = SERVERS.replace(",'sleep':2", "");
    try (TestBridge bridge = open(KEYS + servers)) {
      CompletableFuture<Answer> batch =
          bridge.postLater(
              "/batch",
              "{\"concurrency\":1,\"calls\":["
                  + "{\"server\":\"s\",\"tool\":\"sleep\",\"arguments\":{\"ms\":3000}},"
                  + "{\"server\":\"s\",\"tool\":\"echo\",\"arguments\":{}}]}",
              "x-api-key",
              CALLER);
      bridge.until(
          () ->
              bridge.get("/servers/s", "x-api-key", BOSS).body().path("pending_calls").asInt()
                  == 1);

      bridge.reload("{" + LESS + servers);

      String results = batch.get(20, TimeUnit.SECONDS).text();
      assertTrue(results.contains("slept"), results);
      assertTrue(results.contains("\"code\":\"forbidden\""), results);
    }
  }

  @Test
  void callThatIsNotDecidedInTimeIsAnsweredWithItsPendingConfirmation() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      Answer held = bridge.call("big", "{\"size\":1}", "x-api-key", CALLER, "prefer", "wait=1");

      assertEquals("true", held.at("/requires_confirmation"), held.toString());
      assertEquals("pending", status(bridge, held, CALLER).path("status").asText());
      assertEquals("x", bridge.post(path(held), YES, "x-api-key", BOSS).firstText());
    }
  }

  @Test
  void callThatIsApprovedInTimeIsAnsweredWithItsOutcomeHoweverLongItRuns() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      CompletableFuture<Answer> waiting =
          bridge.callLater("sleep", "{\"ms\":4000}", "x-api-key", CALLER, "prefer", "wait=3");

      Answer answered = approved(bridge, waiting);

      assertEquals("slept", answered.firstText(), answered.toString());
    }
  }

  @Test
  void mcpCallThatIsApprovedInTimeIsAnsweredWithItsOutcomeHoweverLongItRuns() throws Exception {
    try (TestBridge bridge = open(KEYS + "'risk':{'approver':'operator','expiry':2}," + SERVERS)) {
      CompletableFuture<Reply> waiting =
          Background.call(
              () ->
                  new McpClient(bridge.uri("/mcp"), "{}", "x-api-key", CALLER)
                      .initialized()
                      .request(
                          "tools/call",
                          "{\"name\":\"s__sleep\",\"arguments\":{\"ms\":6000},"
                              + "\"_meta\":{\"progressToken\":1}}"));

      Reply reply = approved(bridge, waiting);

      assertEquals("slept", reply.firstText(), reply.text());
    }
  }

  /** What a caller gets whose only pending call is approved. */
  private static <T> T approved(TestBridge bridge, CompletableFuture<T> waiting) throws Exception {
    bridge.postLater("/confirmations/" + pending(bridge), YES, "x-api-key", BOSS);
    return waiting.get(20, TimeUnit.SECONDS);
  }

  @Test
  void mcpCallThatIsNotDecidedInTimeIsToldSo() throws Exception {
    try (TestBridge bridge = open(KEYS + "'risk':{'approver':'operator','expiry':1}," + SERVERS)) {
      McpClient client = new McpClient(bridge.uri("/mcp"), "{}", "x-api-key", CALLER).initialized();

      Reply reply = client.request("tools/call", PARAMS + "\"_meta\":{\"progressToken\":1}}");

      assertTrue(reply.firstText().endsWith("has expired, and the call has not run"), reply.text());
      assertTrue(reply.result().path("isError").booleanValue(), reply.text());
    }
  }

  private static String path(Answer confirmation) {
    return "/confirmations/" + confirmation.at("/confirmation_id");
  }

  private static JsonNode status(TestBridge bridge, Answer confirmation, String key)
      throws Exception {
    return bridge.get(path(confirmation), "x-api-key", key).body();
  }

  /** The id of the only pending confirmation; waits until there is one. */
  private static String pending(TestBridge bridge) throws Exception {
    String list = "/confirmations";
    bridge.until(
        () -> bridge.get(list, "x-api-key", BOSS).body().path("confirmations").size() == 1);
    return bridge.get(list, "x-api-key", BOSS).at("/confirmations/0/confirmation_id");
  }

  @Test
  void aCallThatIsRepeatedWhileAnOperatorDecidesHasTheSameConfirmation() throws Exception {
    try (TestBridge bridge = open(KEYS + OPERATOR + SERVERS)) {
      // Given
      String[] caller = {"authorization", "Bearer " + CALLER};
      String id = bridge.call("big", "{\"size\":3}", caller).at("/confirmation_id");

      // When
      CompletableFuture<Answer> waiting =
          bridge.callLater("big", "{\"size\":3}", with(caller, "prefer", "wait=20"));
      String other = bridge.call("big", "{\"size\":4}", caller).at("/confirmation_id");
      String of =
          bridge
              .call("big", "{\"size\":3}", "authorization", "Bearer " + BOSS)
              .at("/confirmation_id");

      // Then
      assertNotEquals(id, other, "another call");
      assertNotEquals(id, of, "another caller");
      assertEquals(id, bridge.call("big", "{\"size\":3}", caller).at("/confirmation_id"));
      assertTrue(
          bridge
              .get("/metrics", "authorization", "Bearer " + BOSS)
              .text()
              .contains("mcp_bridge_approvals_pending 3.0\n"));
      assertEquals(
          200,
          bridge.post("/confirmations/" + id, YES, "authorization", "Bearer " + BOSS).status());
      assertEquals("xxx", waiting.get(20, TimeUnit.SECONDS).firstText());
      assertNotEquals(
          id, bridge.call("big", "{\"size\":3}", caller).at("/confirmation_id"), "it is decided");
    }
  }

  private static String[] with(String[] headers, String name, String value) {
    return new String[] {headers[0], headers[1], name, value};
  }
}
