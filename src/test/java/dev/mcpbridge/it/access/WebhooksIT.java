package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.audit.AuditVerifier;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.ClientProgram;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.NoticeReceiver;
import dev.mcpbridge.fixture.NoticeReceiver.Received;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signed notices to receivers outside of the bridge. */
@Tag("access")
class WebhooksIT {
  private static final String RISK = "'risk':{'tools':{'big':2}}";
  private static final String PENDING = "confirmation.pending";

  @TempDir private Path folder;
  @AutoClose private final NoticeReceiver receiver = newReceiver();
  @AutoClose private TestBridge bridge;

  private static NoticeReceiver newReceiver() {
    try {
      return new NoticeReceiver();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private void start(String config) {
    bridge =
        TestBridge.of("{" + config + ",'mcpServers':{'s':" + TestBridge.entry(RISK) + "}}")
            .awaitReady("s");
  }

  private void start() {
    start(receiver.webhooks(""));
  }

  /** A call that waits for its confirmation. */
  private Answer held(String arguments) throws Exception {
    Answer held = bridge.call("big", arguments);
    assertEquals("true", held.at("/requires_confirmation"), held.toString());
    return held;
  }

  private Answer decide(Answer held, boolean confirm) throws Exception {
    return bridge.post(
        "/confirmations/" + held.at("/confirmation_id"),
        "{\"confirm\":" + confirm + ",\"token\":\"" + held.at("/token") + "\"}");
  }

  private double counted(String outcome) throws Exception {
    String series = "mcp_bridge_webhook_notices_total{outcome=\"" + outcome + "\"}";
    return MetricsText.values(bridge.get("/metrics").text(), series).sum();
  }

  @Test
  void aPendingConfirmationIsSentSignedAndWithoutItsArgumentsAndToken() throws Exception {
    start();

    Answer held = held("{\"size\":1,\"text\":\"s3cret\"}");

    Received notice = receiver.await(bridge, PENDING);
    assertEquals("POST /hook?room=7", notice.headers().get("request"));
    assertEquals(held.at("/confirmation_id"), notice.at("/data/confirmation_id"));
    assertEquals("big", notice.at("/data/tool_name"));
    assertEquals("s", notice.at("/data/server_id"));
    assertEquals("2", notice.at("/data/risk_level"));
    assertEquals(held.at("/digest"), notice.at("/data/digest"));
    assertEquals(held.at("/expires_at"), notice.at("/data/expires_at"));
    assertFalse(notice.text().contains("s3cret"), notice.text());
    assertFalse(notice.text().contains(held.at("/token")), notice.text());
    assertEquals(
        notice.body(),
        ClientProgram.node(
            folder,
            "webhook.mjs",
            NoticeReceiver.SECRET,
            Json.mapper().writeValueAsString(notice.headers()),
            notice.text()));
  }

  @ParameterizedTest
  @CsvSource({"true, confirmation.approved", "false, confirmation.rejected"})
  void aDecisionIsSentWithWhoDecided(boolean confirm, String type) throws Exception {
    start();

    Answer held = held("{\"size\":1}");
    decide(held, confirm);

    Received notice = receiver.await(bridge, type);
    assertEquals(held.at("/confirmation_id"), notice.at("/data/confirmation_id"));
    assertFalse(notice.at("/data/decided_by").isEmpty(), notice.text());
  }

  @Test
  void anExpiryIsSent() throws Exception {
    start(receiver.webhooks("") + ",'risk':{'expiry':0.2}");

    Answer held = held("{\"size\":1}");

    Received notice = receiver.await(bridge, "confirmation.expired");
    assertEquals(held.at("/confirmation_id"), notice.at("/data/confirmation_id"));
  }

  @Test
  void argumentsAreSentAsTheyAreIfTheOperatorWantsThem() throws Exception {
    start(receiver.webhooks(",'arguments':true,'events':['confirmation.pending']"));

    held("{\"z\":1.10,\"size\":1,\"a\":9007199254740993}");

    String text = receiver.await(bridge, PENDING).text();
    assertTrue(text.contains("\"arguments\":{\"z\":1.10,\"size\":1,\"a\":9007199254740993}"), text);
  }

  @Test
  void checkpointsThatAReceiverOrTheLogKeepsProveTheTrail() throws Exception {
    Path trail = folder.resolve("trail");
    final CapturedLog log = new CapturedLog();
    start(
        receiver.webhooks(",'events':['audit.checkpoint']")
            + ",'audit':{'folder':'"
            + trail
            + "'}");
    receiver.await(bridge, "audit.checkpoint");

    bridge.close();
    log.close();

    List<Received> checkpoints = receiver.all();
    String kept = checkpoints.get(checkpoints.size() - 1).body().path("data").toString();
    List<String> logged =
        log.lines().stream().filter(line -> line.contains("audit checkpoint {")).toList();
    String last = logged.get(logged.size() - 1);
    assertEquals(Json.tree(Files.readString(trail.resolve("audit.head"))), Json.tree(kept));
    assertEquals(Json.tree(kept), Json.tree(last.substring(last.indexOf('{'))));
    Path head = Files.writeString(folder.resolve("kept.head"), kept);
    assertNull(AuditVerifier.verify(trail, null, head).error());
    Path anew = folder.resolve("anew");
    bridge = TestBridge.of("{'audit':{'folder':'" + anew + "'},'mcpServers':{}}");
    bridge.close();
    assertNull(AuditVerifier.verify(anew, null, null).error());
    assertNotNull(AuditVerifier.verify(anew, null, head).error(), "a trail that was written anew");
  }

  @Test
  void largeArgumentsAreLeftOutAndTheirSizeIsSent() throws Exception {
    start(receiver.webhooks(",'arguments':true"));
    String arguments = "{\"size\":1,\"text\":\"" + "x".repeat(20_000) + "\"}";

    held(arguments);

    Received notice = receiver.await(bridge, PENDING);
    assertEquals(arguments.length(), notice.body().at("/data/arguments_bytes").asInt());
    assertTrue(notice.body().at("/data/arguments").isMissingNode());
  }

  /** Notices are kept for a receiver that is gone: their size must not be the caller's choice. */
  @Test
  void longNamesAreCutAndTheirLengthIsSent() throws Exception {
    bridge =
        TestBridge.of(
                "{"
                    + receiver.webhooks("")
                    + ",'mcpServers':{'s':"
                    + TestBridge.entry("'riskLevel':2")
                    + "}}")
            .awaitReady("s");
    String uri = "file:///" + "x".repeat(5_000);

    bridge.get("/servers/s/resources/" + URLEncoder.encode(uri, StandardCharsets.UTF_8));

    Received notice = receiver.await(bridge, PENDING);
    assertEquals("resources/read", notice.at("/data/method"));
    assertEquals(uri.substring(0, 2_048), notice.at("/data/tool_name"));
    assertEquals("5008", notice.at("/data/tool_name_length"));
  }

  @Test
  void onlyTheChosenEventsAreSent() throws Exception {
    start(receiver.webhooks(",'events':['confirmation.rejected']"));

    decide(held("{\"size\":1}"), false);

    receiver.await(bridge, "confirmation.rejected");
    assertEquals(List.of("confirmation.rejected"), receiver.types());
  }

  @Test
  void eachRequestHasTheConfiguredHeaders() throws Exception {
    start(receiver.webhooks(",'headers':{'authorization':'Bearer abc'}"));

    held("{\"size\":1}");

    assertEquals("Bearer abc", receiver.await(bridge, PENDING).headers().get("authorization"));
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 404, 302})
  void whatIsRefusedIsSentAgainWithTheSameId(int status) throws Exception {
    receiver.answering(status);
    start();

    held("{\"size\":1}");

    bridge.until(() -> counted("delivered") == 1);
    assertEquals(2, receiver.all().size());
    Received first = receiver.all().get(0);
    Received second = receiver.all().get(1);
    assertEquals(first.id(), second.id());
    assertEquals(first.text(), second.text());
    assertEquals("POST /hook?room=7", second.headers().get("request"));
    assertEquals(0, counted("failed"));
  }

  @Test
  void aReceiverThatIsGoneReceivesNothingMore() throws Exception {
    receiver.answering(410);
    try (CapturedLog log = new CapturedLog()) {
      start();

      Answer held = held("{\"size\":1}");
      bridge.until(() -> counted("failed") == 1);
      decide(held, false);

      String lines = String.join("\n", log.lines());
      assertTrue(lines.contains("webhook=127.0.0.1 state=gone"), lines);
      assertFalse(lines.contains("room=7"), lines);
    }
    held("{\"size\":2}");
    bridge.assertAlive();
    assertEquals(1, receiver.all().size());
  }

  @Test
  void aReceiverThatDoesNotAnswerHoldsUpNeitherCallsNorOtherReceivers() throws Exception {
    start("'webhooks':[" + receiver.hangingWebhook() + "," + receiver.webhook("") + "]");

    for (int i = 1; i <= 20; i++) {
      held("{\"size\":" + i + "}");
    }

    bridge.until(() -> received("/hook?room=7") == 20);
    assertEquals(4, received("/hanging?room=7"), "requests at a time");
    assertEquals(200, bridge.call("echo", "{}").status());
  }

  private long received(String path) {
    return receiver.all().stream().filter(each -> each.isFor(path)).count();
  }

  @Test
  void aServerThatFailsIsReportedOnceAndWhenItIsReadyAgain() throws Exception {
    start();

    ProcessHandle.of(bridge.pids("s").get(0)).orElseThrow().destroyForcibly();

    Received failed = receiver.await(bridge, "server.failed");
    assertEquals("s", failed.at("/data/server_id"));
    assertFalse(failed.at("/data/reason").isEmpty(), failed.text());
    assertEquals("s", receiver.await(bridge, "server.recovered").at("/data/server_id"));
    assertEquals(List.of("server.failed", "server.recovered"), receiver.types());
  }

  @Test
  void aServerThatCannotStartIsReportedOnceHoweverOftenItIsTried() throws Exception {
    bridge =
        TestBridge.of(
            "{"
                + receiver.webhooks("")
                + ",'mcpServers':{'s':"
                + TestBridge.entry("", "--exit")
                + "}}");

    receiver.await(bridge, "server.failed");
    bridge.until(() -> bridge.get("/servers/s").body().path("restarts").asInt() >= 2);

    assertEquals(List.of("server.failed"), receiver.types());
  }

  @Test
  void changedDefinitionsAreSentByName() throws Exception {
    Path catalogue = folder.resolve("catalogue.json");
    String tool = "{'tools':[{'name':'push','description':'%s'}]}";
    String entry = CatalogueServer.entry(catalogue, TestBridge.json(tool.formatted("Good")), "");
    String pins = "'pins':{'changed':'block','file':'" + folder.resolve("lock.json") + "'}";
    bridge =
        TestBridge.of(
                "{" + receiver.webhooks("") + "," + pins + ",'mcpServers':{'s':" + entry + "}}")
            .awaitReady("s");

    Files.writeString(catalogue, TestBridge.json(tool.formatted("Evil")));
    bridge.post("/servers/s/restart", "");

    Received notice = receiver.await(bridge, "definitions.changed");
    assertEquals("s", notice.at("/data/server_id"));
    assertEquals("1", notice.at("/data/held"));
    assertTrue(notice.at("/data/definitions/0").contains("push"), notice.text());

    // When
    String digest = bridge.get("/servers/s/pins").at("/definitions/0/digest");
    Answer approved =
        bridge.post(
            "/servers/s/pins",
            TestBridge.json(
                "{'decisions':[{'kind':'tool','name':'push','digest':'"
                    + digest
                    + "','decision':'approve'}]}"));
    assertEquals(200, approved.status(), approved.toString());

    // Then
    bridge.until(() -> receiver.types().size() == 2);
    assertEquals("0", receiver.all().get(1).at("/data/held"));
    assertEquals("1", receiver.all().get(1).at("/data/approved"));
  }

  @Test
  void longNamesOfAHostileServerAreCut() throws Exception {
    Path catalogue = folder.resolve("catalogue.json");
    String entry = CatalogueServer.entry(catalogue, "{\"tools\":[]}", "");
    String pins = "'pins':{'new':'block','file':'" + folder.resolve("lock.json") + "'}";
    bridge =
        TestBridge.of(
                "{" + receiver.webhooks("") + "," + pins + ",'mcpServers':{'s':" + entry + "}}")
            .awaitReady("s");

    Files.writeString(catalogue, "{\"prompts\":[{\"name\":\"" + "n".repeat(500_000) + "\"}]}");
    bridge.post("/servers/s/restart", "");

    Received notice = receiver.await(bridge, "definitions.changed");
    assertEquals(2_048, notice.at("/data/definitions/0").length(), notice.type());
  }

  @Test
  void aKeyThatIsReplacedSignsTooUntilItIsRemoved() throws Exception {
    String next = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNk";
    start(
        receiver
            .webhooks("")
            .replace(
                "'" + NoticeReceiver.SECRET + "'",
                "'" + next + "','" + NoticeReceiver.SECRET + "'"));

    held("{\"size\":1}");

    Received notice = receiver.await(bridge, PENDING);
    for (String secret : List.of(next, NoticeReceiver.SECRET)) {
      ClientProgram.node(
          folder,
          "webhook.mjs",
          secret,
          Json.mapper().writeValueAsString(notice.headers()),
          notice.text());
    }
  }
}
